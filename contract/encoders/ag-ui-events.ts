/** The version that RUN_STARTED declares. */
export const AG_UI_VERSION = '1.0';

export type AgUiMetadata = Readonly<Record<string, unknown>>;

/** Fields that any event may carry. `metadata.deliverySeq` is the cursor of the delivery that the event comes from. */
interface Stamp {
  readonly timestamp?: number;
  readonly metadata?: AgUiMetadata;
}

/** Whose work an event opens; the parent agent's carries none. What continues it needs no tag (AG-UI 1.0, "Ownership"). */
interface Attribution {
  readonly subagentRunId?: string;
}

/** The tokens of a run so far: totals, and parts of them. */
export interface AgUiTokenUsage {
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly totalTokens?: number;
  readonly cachedInputTokens?: number;
}

export interface AgUiInterrupt extends Attribution {
  readonly id: string;
  /** `tool_call` is bound to `toolCallId`; `input_required` is a form. */
  readonly reason: 'tool_call' | 'input_required';
  readonly message?: string;
  readonly toolCallId?: string;
  readonly responseSchema?: Readonly<Record<string, unknown>>;
  readonly metadata?: AgUiMetadata;
}

export type AgUiOutcome =
  | { readonly type: 'success' }
  | { readonly type: 'interrupt'; readonly interrupts: readonly AgUiInterrupt[] }
  | { readonly type: 'cancelled' };

interface Delta {
  readonly messageId: string;
  readonly delta: string;
}

/** The events of AG-UI 1.0 that Tidemark says, without their stamp. */
export type AgUiBody =
  | {
      readonly type: 'RUN_STARTED';
      readonly threadId: string;
      readonly runId: string;
      readonly protocolVersion: typeof AG_UI_VERSION;
    }
  | {
      readonly type: 'RUN_FINISHED';
      readonly threadId: string;
      readonly runId: string;
      readonly outcome: AgUiOutcome;
      readonly usage?: readonly AgUiTokenUsage[];
    }
  | {
      readonly type: 'RUN_ERROR';
      readonly message: string;
      readonly code: string;
      readonly usage?: readonly AgUiTokenUsage[];
    }
  | ({
      readonly type: 'TEXT_MESSAGE_START';
      readonly messageId: string;
      readonly role: 'assistant' | 'user';
    } & Attribution)
  | ({ readonly type: 'TEXT_MESSAGE_CONTENT' } & Delta)
  | { readonly type: 'TEXT_MESSAGE_END'; readonly messageId: string }
  | ({ readonly type: 'REASONING_START'; readonly messageId: string } & Attribution)
  | ({
      readonly type: 'REASONING_MESSAGE_START';
      readonly messageId: string;
      readonly role: 'reasoning';
    } & Attribution)
  | ({ readonly type: 'REASONING_MESSAGE_CONTENT' } & Delta)
  | { readonly type: 'REASONING_MESSAGE_END'; readonly messageId: string }
  | { readonly type: 'REASONING_END'; readonly messageId: string }
  | ({
      readonly type: 'TOOL_CALL_START';
      readonly toolCallId: string;
      readonly toolCallName: string;
      readonly parentMessageId: string;
    } & Attribution)
  | { readonly type: 'TOOL_CALL_ARGS'; readonly toolCallId: string; readonly delta: string }
  | { readonly type: 'TOOL_CALL_END'; readonly toolCallId: string }
  | ({
      readonly type: 'TOOL_CALL_RESULT';
      readonly messageId: string;
      readonly toolCallId: string;
      readonly content: string;
      readonly role: 'tool';
    } & Attribution)
  | {
      readonly type: 'SUBAGENT_STARTED';
      readonly subagentRunId: string;
      readonly name: string;
      readonly parentSubagentRunId?: string;
      readonly parentToolCallId: string;
    }
  | {
      readonly type: 'SUBAGENT_FINISHED';
      readonly subagentRunId: string;
      readonly outcome:
        | { readonly type: 'success' }
        | { readonly type: 'suspended'; readonly interruptIds?: readonly string[] };
    }
  | { readonly type: 'SUBAGENT_ERROR'; readonly subagentRunId: string; readonly message: string; readonly code: string }
  | ({ readonly type: 'CUSTOM'; readonly name: string; readonly value: object } & Attribution)
  | { readonly type: 'MESSAGES_SNAPSHOT'; readonly messages: readonly AgUiMessage[] };

export type AgUiEvent = AgUiBody & Stamp;

interface MessageBase extends Attribution {
  readonly id: string;
  readonly metadata?: AgUiMetadata;
}

export interface AgUiToolCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
  readonly metadata?: AgUiMetadata;
}

/** A message of the conversation as an AG-UI client holds it. */
export type AgUiMessage =
  | (MessageBase & { readonly role: 'user' | 'system' | 'developer'; readonly content: string | readonly object[] })
  | (MessageBase & {
      readonly role: 'assistant';
      readonly content?: string;
      readonly toolCalls?: readonly AgUiToolCall[];
    })
  | (MessageBase & { readonly role: 'reasoning'; readonly content: string })
  | (MessageBase & { readonly role: 'tool'; readonly toolCallId: string; readonly content: string });
