import type {
  AgentContext,
  AssistantMessage,
  Message,
  Tool,
  ToolCall,
  ToolResultMessage,
} from '../../../../contract/agent-messages.ts';
import { textOf } from '../../../../contract/agent-messages.ts';
import { REASONING_FIELDS } from './openai-answer.ts';

const NO_RESULT = 'error: the tool call was not completed; its outcome is unknown';

/**
 * The conversation as Chat Completions wants it.
 *
 * **Contract:** what the endpoint refuses for ever is never sent: each tool call is followed by exactly one result (an error
 * one is made up where none is known), a result without its call is left out, so are assistant messages that failed or are
 * empty. Wire ids are the provider's own, or short ones made from the position.
 */
export function convertMessages(messages: readonly Message[], provider: string): object[] {
  const results = new Map<string, ToolResultMessage>();
  for (const message of messages) if (message.role === 'tool-result') results.set(message.toolCallId, message);
  const ids = new WireIds();
  const lastUser = messages.findLastIndex((message) => message.role === 'user');
  return messages.flatMap((message, index) => {
    if (message.role === 'user') return [{ role: 'user', content: textOf(message.content) }];
    if (message.role === 'tool-result' || message.stopReason === 'error') return [];
    const calls = message.content.filter((block) => block.type === 'tool-call');
    const content = textOf(message.content);
    if (calls.length === 0 && content === '') return [];
    const wireIds = calls.map((call) => ids.take(call));
    const assistant = {
      role: 'assistant',
      content: content === '' ? null : content,
      ...(index > lastUser && message.provider === provider ? reasoningOf(message) : {}),
      ...(calls.length > 0 ? { tool_calls: calls.map((call, n) => wireCall(call, wireIds[n] ?? '')) } : {}),
    };
    const answers = calls.map((call, n) => {
      const result = results.get(call.id);
      return { role: 'tool', tool_call_id: wireIds[n], content: result === undefined ? NO_RESULT : resultText(result) };
    });
    return [assistant, ...answers];
  });
}

export function convertTools(tools: readonly Tool[]): object[] {
  return tools.map(({ name, description, parameters }) => ({
    type: 'function',
    function: { name, description, parameters },
  }));
}

export interface BodyOptions {
  readonly provider: string;
  /** OpenAI's own models refuse `max_tokens`; most other servers know nothing else. */
  readonly maxTokensField: 'max_tokens' | 'max_completion_tokens';
  readonly asksForUsage: boolean;
}

export function buildBody(model: string, context: AgentContext, options: BodyOptions): object {
  const { systemPrompt, tools, maxTokens } = context;
  const system = systemPrompt === undefined || systemPrompt === '' ? [] : [{ role: 'system', content: systemPrompt }];
  return {
    model,
    messages: [...system, ...convertMessages(context.messages, options.provider)],
    ...(tools.length > 0 ? { tools: convertTools(tools) } : {}),
    [options.maxTokensField]: maxTokens,
    stream: true,
    ...(options.asksForUsage ? { stream_options: { include_usage: true } } : {}),
  };
}

/** Reasoning goes back only while its turn goes on, under the name that it came by: some servers insist on both. */
function reasoningOf(message: AssistantMessage): Record<string, string> {
  const blocks = message.content.filter((block) => block.type === 'thinking');
  const field = REASONING_FIELDS.find((name) => blocks.some((block) => block.thinkingSignature === name));
  return field === undefined ? {} : { [field]: blocks.map((block) => block.thinking).join('') };
}

/** A name that the endpoint would refuse must not make the whole history unusable. */
function wireCall(call: ToolCall, id: string): object {
  const name = call.name.replaceAll(/[^\w-]/g, '_').slice(0, 64) || 'unknown';
  return { id, type: 'function', function: { name, arguments: JSON.stringify(call.arguments) } };
}

function resultText(result: ToolResultMessage): string {
  return textOf(result.content) || (result.isError ? 'error: the tool gave no reason' : '(no output)');
}

/** Ids on the wire: at most 40 characters (OpenAI's limit), no two calls alike. */
class WireIds {
  readonly #used = new Set<string>();

  take(call: ToolCall): string {
    const native = call.nativeId ?? '';
    const id = native === '' || native.length > 40 || this.#used.has(native) ? this.#free() : native;
    this.#used.add(id);
    return id;
  }

  #free(): string {
    let n = this.#used.size;
    while (this.#used.has(`call_${String(n)}`)) n++;
    return `call_${String(n)}`;
  }
}
