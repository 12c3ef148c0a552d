import {
  textOf,
  type AssistantMessage,
  type Message,
  type ToolCall,
  type ToolResultMessage,
  type UserMessage,
} from '../../../../contract/agent-messages.ts';
import type { Agent } from '../../../../contract/extensions/bus-event.ts';
import type { ProviderEvent } from '../../../../contract/extensions/register-kinds.ts';
import type { CompactionSummary } from '../compaction/compaction-summary.ts';
import type { ExtensionHost } from './host.ts';

/**
 * What the loop says of a run on the bus (extension contracts, "Events").
 *
 * **Contract:** an event is said when it happens, so a step that is repeated says its events again; what a client sees is the
 * lane, where nothing is doubled. Handlers cannot hold the loop up but by their own time: they are synchronous.
 */
export class LoopEvents {
  readonly #host: ExtensionHost;
  readonly #agent: Agent;

  constructor(host: ExtensionHost, agent: Agent) {
    this.#host = host;
    this.#agent = agent;
  }

  started({ cwd, provider, line }: { readonly cwd: string; readonly provider: string; readonly line: string }): void {
    this.#host.emit({ type: 'agent-started', agent: this.#agent, cwd, model: this.#agent.model, provider });
    this.#host.emit({ type: 'user', line });
  }

  /** A user's input, which was queued, is put before the model of a run at work: a worker hears of it only now. */
  heard({ content }: UserMessage): void {
    const line = textOf(content);
    this.#host.emit({ type: 'queued', line });
    this.#host.emit({ type: 'user', line });
  }

  callBegins(provider: string, model: string): void {
    this.#host.emit({ type: 'llm-start', provider, model });
  }

  /** What the provider streams, and what of it a presenter shows. */
  streamed(event: ProviderEvent): void {
    this.#host.emit(event);
    if (event.type === 'text-delta') this.#host.emit({ type: 'assistant-text-delta', delta: event.delta });
    if (event.type === 'thinking-delta') this.#host.emit({ type: 'assistant-thinking-delta', delta: event.delta });
  }

  /** The end of a call; `isCancelled`: the person stopped it. */
  callEnded(message: AssistantMessage, isCancelled: boolean): void {
    this.#host.emit({ type: 'assistant-stream-end' });
    const thinking = message.content.map((block) => (block.type === 'thinking' ? block.thinking : '')).join('');
    if (thinking !== '') this.#host.emit({ type: 'assistant-thinking', text: thinking, final: true });
    const text = textOf(message.content);
    if (text !== '') this.#host.emit({ type: 'assistant-text', text, final: true });
    this.#host.emit({ type: 'llm-end', message });
    if (isCancelled) this.#host.emit({ type: 'cancelled' });
  }

  /** The end of a call for a summary, which is no answer to anybody. */
  summaryEnded(message: AssistantMessage): void {
    this.#host.emit({ type: 'llm-end', message });
  }

  /** The conversation was compacted. */
  compacted(summary: CompactionSummary): void {
    this.#host.emit(summary);
  }

  toolBegins(toolCall: ToolCall): void {
    this.#host.emit({ type: 'tool-call', toolCall });
  }

  toolEnded(result: ToolResultMessage): void {
    this.#host.emit({ type: 'tool-result', result });
  }

  /** A message is in the run's session; `indexOf` gives its place, from 1, and is asked only when somebody listens. */
  async appended(message: Message, indexOf: () => Promise<number>): Promise<void> {
    if (!this.#host.hears('message-appended')) return;
    this.#host.emit({ type: 'message-appended', agent: this.#agent, index: await indexOf(), message });
  }

  /** The run has its end. */
  ended(end: {
    readonly status: 'ok' | 'cancelled' | 'error';
    readonly messageCount: number;
    readonly result: string | null;
    readonly error: string | null;
  }): void {
    const { status, messageCount, result, error } = end;
    const agent = this.#agent;
    const failed = error === null ? {} : { error };
    const said = result === null ? {} : { result };
    this.#host.emit({ type: 'agent-turn-complete', agent, status, messageCount, ...said, ...failed });
    this.#host.emit({ type: 'agent-shutdown', agent, reason: status === 'error' ? 'crashed' : 'normal', ...failed });
  }
}
