import { plainError, plainJson } from '../plain-json.ts';
import type { ContentPart, ModelMessage, StreamPart } from './agent-shape.ts';

/** A call that a person has to decide on: whether it may run, or, where nothing runs it, what comes of it. */
export interface AskedCall {
  readonly type: 'approval' | 'question';
  /** Of an approval. */
  readonly approvalId: string | null;
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: unknown;
}

/**
 * What a stream has said so far: the messages that it comes to, for a session that is taken up in the middle, the calls that are
 * open, and how it ended. Reasoning is left out of the messages, since a vendor takes its own only as a whole and signed.
 */
export class StreamedStep {
  /** Calls that work now. */
  readonly running: Set<string>;
  /** Characters of text so far. */
  chars = 0;
  finishReason: string | null = null;
  /** Of an `error` part. */
  fault: string | null = null;
  isAborted = false;
  readonly #messages: { role: 'assistant' | 'tool'; content: ContentPart[] }[] = [];
  readonly #calls = new Map<string, StreamPart>();
  readonly #approvals = new Map<string, string>();

  /** `approved`: calls of a stream before, which this one begins with. */
  constructor(approved: readonly string[]) {
    this.running = new Set(approved);
  }

  take(part: StreamPart): void {
    const { type } = part;
    const id = textIn(part['toolCallId']);
    switch (type) {
      case 'text-delta':
        this.#addText(textIn(part['text']));
        return;
      case 'tool-call':
        if (part['providerExecuted'] === true) return;
        this.#calls.set(id, part);
        this.running.add(id);
        this.#contentOf('assistant').push({ type, ...nameOf(part), input: inputOf(part['input']) });
        return;
      case 'tool-approval-request':
        this.#takeRequest(part);
        return;
      case 'tool-approval-response':
        this.#approvals.delete(textIn(part['approvalId']));
        return;
      case 'tool-result':
        if (part['preliminary'] !== true) this.#end(part, outputOf(part['output']));
        return;
      case 'tool-error':
        this.#end(part, { type: 'error-text', value: plainError(part['error']).message });
        return;
      case 'tool-output-denied':
        this.#end(part, { type: 'execution-denied' });
        return;
      case 'abort':
        this.isAborted = true;
        return;
      case 'error':
        this.fault = plainError(part['error']).message;
        return;
      case 'finish':
        this.finishReason = textIn(part['finishReason'], 'stop');
        return;
      default:
    }
  }

  get messages(): readonly ModelMessage[] {
    return this.#messages;
  }

  /** When the stream has ended: what it waits for a person to decide. */
  asked(): AskedCall[] {
    const approvals = [...this.#approvals].map(([approvalId, toolCallId]) => this.#askedCall(toolCallId, approvalId));
    const waiting = new Set(this.#approvals.values());
    const unrun = [...this.#calls.keys()].filter((id) => !waiting.has(id));
    return [...approvals, ...unrun.map((id) => this.#askedCall(id, null))];
  }

  #askedCall(toolCallId: string, approvalId: string | null): AskedCall {
    const { toolName, input } = this.#calls.get(toolCallId) ?? { toolName: 'tool', input: {} };
    const type = approvalId === null ? 'question' : 'approval';
    return { type, approvalId, toolCallId, toolName: textIn(toolName, 'tool'), input: plainJson(input) };
  }

  #takeRequest(part: StreamPart): void {
    const { toolCallId } = (part['toolCall'] ?? {}) as { toolCallId?: unknown };
    // one that a rule of the agent's own decides is not a person's
    if (part['isAutomatic'] === true || !this.#calls.has(textIn(toolCallId))) return;
    this.#approvals.set(textIn(part['approvalId']), textIn(toolCallId));
    this.running.delete(textIn(toolCallId));
  }

  #end(part: StreamPart, output: ContentPart): void {
    if (part['providerExecuted'] === true) return;
    const id = textIn(part['toolCallId']);
    this.#calls.delete(id);
    this.running.delete(id);
    this.#contentOf('tool').push({ type: 'tool-result', ...nameOf(part), output });
  }

  #addText(text: string): void {
    this.chars += text.length;
    const content = this.#contentOf('assistant');
    const last = content.at(-1);
    if (last?.type === 'text') content[content.length - 1] = { type: 'text', text: `${String(last['text'])}${text}` };
    else content.push({ type: 'text', text });
  }

  #contentOf(role: 'assistant' | 'tool'): ContentPart[] {
    const last = this.#messages.at(-1);
    if (last?.role === role) return last.content;
    const message = { role, content: [] as ContentPart[] };
    this.#messages.push(message);
    return message.content;
  }
}

function nameOf(part: StreamPart): { toolCallId: string; toolName: string } {
  return { toolCallId: textIn(part['toolCallId']), toolName: textIn(part['toolName'], 'tool') };
}

/** A call that could not be read has its text there. */
function inputOf(input: unknown): unknown {
  return typeof input === 'object' && input !== null ? plainJson(input) : {};
}

function outputOf(output: unknown): ContentPart {
  return typeof output === 'string' ? { type: 'text', value: output } : { type: 'json', value: plainJson(output) };
}

function textIn(value: unknown, otherwise = ''): string {
  return typeof value === 'string' ? value : otherwise;
}
