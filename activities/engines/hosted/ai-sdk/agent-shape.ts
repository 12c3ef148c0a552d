/**
 * What of the AI SDK a host touches: the same in its versions 6 and 7, whose own types a module brings. An agent is anything that
 * streams like `ToolLoopAgent`.
 */
export interface AiSdkAgent {
  stream(options: { readonly messages: readonly ModelMessage[]; readonly abortSignal: AbortSignal }): unknown;
  readonly tools?: Readonly<Record<string, { readonly outputSchema?: unknown }>>;
}

export interface StreamResult {
  readonly stream?: AsyncIterable<StreamPart>;
  /** Its name before version 7. */
  readonly fullStream?: AsyncIterable<StreamPart>;
  readonly responseMessages?: PromiseLike<readonly ModelMessage[]>;
  /** Where they are before version 7. */
  readonly response?: PromiseLike<{ readonly messages?: readonly ModelMessage[] }>;
}

export interface StreamPart {
  readonly type: string;
  readonly [field: string]: unknown;
}

export interface ModelMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly content: string | readonly ContentPart[];
}

export interface ContentPart {
  readonly type: string;
  readonly toolCallId?: string;
  readonly toolName?: string;
  readonly providerExecuted?: boolean;
  readonly [field: string]: unknown;
}

export function isAgent(value: unknown): value is AiSdkAgent {
  return typeof value === 'object' && value !== null && typeof (value as { stream?: unknown }).stream === 'function';
}

/** The parts of a message: a text alone is one. */
export function partsOf({ content }: ModelMessage): readonly ContentPart[] {
  if (typeof content !== 'string') return content;
  return content === '' ? [] : [{ type: 'text', text: content }];
}
