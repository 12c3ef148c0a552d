import type { AgentContext, Message, StopReason, Tool } from '../../../../contract/agent-messages.ts';
import type { AnswerReader } from './answer-reader.ts';
import type { Asked } from './conversation.ts';
import type { MessageAssembler } from './message-assembler.ts';
import type { SdkErrors } from './sdk-failure.ts';

export interface Server {
  readonly apiKey: string;
  readonly baseUrl: string;
}

export interface Sending {
  readonly signal: AbortSignal;
  /** Watches the bytes; an SDK must use it. */
  readonly fetch: typeof globalThis.fetch;
}

export interface Sent {
  readonly response: Response;
  /** The response's stream, as JSON; read at most once. */
  events(): AsyncIterable<unknown>;
}

/** A part of a request that some servers refuse: when one does, and names it, it is asked without. */
export interface Wish {
  readonly name: string;
  readonly refusedAs: RegExp;
}

/** One API of a vendor, on the vendor's SDK: what is sent, and how what comes back is read. */
export interface Protocol {
  readonly api: string;
  readonly sdk: SdkErrors;
  readonly wishes: readonly Wish[];
  /** Whether the stream's end mark `[DONE]` alone says that the answer is whole. */
  readonly endsByMark: boolean;
  send(server: Server, body: object, sending: Sending): Promise<Sent>;
  readerFor(assembler: MessageAssembler): AnswerReader;
  /** `granted`: the names of the wishes that this server has not refused. */
  buildBody(context: AgentContext, asked: Required<Asked>, granted: ReadonlySet<string>): object;
  convertMessages(messages: readonly Message[], asked: Asked): readonly object[];
  convertTools(tools: readonly Tool[]): readonly object[];
  mapStopReason(reason: string | null): StopReason;
}

/** For the SDKs: retries are the loop's, and the watch ends a silent call, so their own clock must never be first. */
export const SDK_DEFAULTS = { maxRetries: 0, timeout: 2 ** 31 - 1, logLevel: 'off' } as const;
