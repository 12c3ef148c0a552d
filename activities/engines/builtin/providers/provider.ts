import type {
  AgentContext,
  AssistantMessage,
  Message,
  StopReason,
  Tool,
  ToolCall,
} from '../../../../contract/agent-messages.ts';

/**
 * What a model's stream says, in the order of the extension contracts: `start`; for each block its start, deltas and end;
 * then exactly one `done` or `error`. `contentIndex` counts from 0. Tool calls may be open side by side, each under its own
 * index; text and reasoning never are. A block that was open when the transport failed gets no end.
 */
export type ProviderEvent =
  | { readonly type: 'start' }
  | { readonly type: 'text-start' | 'thinking-start' | 'tool-call-start'; readonly contentIndex: number }
  | {
      readonly type: 'text-delta' | 'thinking-delta' | 'tool-call-delta';
      readonly contentIndex: number;
      readonly delta: string;
    }
  | { readonly type: 'text-end' | 'thinking-end'; readonly contentIndex: number; readonly content: string }
  | { readonly type: 'tool-call-end'; readonly contentIndex: number; readonly toolCall: ToolCall }
  | { readonly type: 'done'; readonly message: AssistantMessage }
  | { readonly type: 'error'; readonly error: string; readonly message: AssistantMessage };

/** A promise holds the stream back until it settles; what it throws ends the call and is thrown by `complete`. */
export type OnProviderEvent = (event: ProviderEvent) => void | Promise<void>;

export interface CallOptions {
  readonly signal: AbortSignal;
  /** No byte from the provider for so long ends the call as `provider_stalled`. */
  readonly stallMs: number;
  /** The id of this message's n-th tool call, from 0. */
  readonly toolCallId: (index: number) => string;
}

/**
 * A source of model answers (extension contracts, register kind `provider`).
 *
 * **Contract:** `complete` never throws for what the provider or the network does: it returns `stopReason: 'error'` with a
 * safe `errorMessage` (no key, no raw body, one line, at most 500 characters) and `error`. When `options.signal` aborts it
 * returns soon with `stopReason: 'aborted'`, the request closed, and the text so far. Tool calls of an answer that did not
 * end well are left out: they may be cut short. One call is one attempt; retrying is the caller's. `content` equals the
 * deltas that were said, joined.
 */
export interface Provider {
  readonly name: string;
  /** The protocol family; several providers may share one. */
  readonly api: string;
  complete(
    model: string,
    context: AgentContext,
    options: CallOptions,
    onEvent?: OnProviderEvent,
  ): Promise<AssistantMessage>;
  convertMessages(messages: readonly Message[]): readonly object[];
  convertTools(tools: readonly Tool[]): readonly object[];
  mapStopReason(reason: string | null): StopReason;
  /** Reads an answer that came whole. */
  parseResponse(response: unknown, model: string, toolCallId: CallOptions['toolCallId']): AssistantMessage;
  buildBody(model: string, context: AgentContext): object;
}
