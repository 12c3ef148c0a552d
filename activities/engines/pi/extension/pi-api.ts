/** What Tidemark's extension uses of pi's extension API (1.6). */
export interface PiApi {
  on(event: 'session_start' | 'before_agent_start', handler: (event: unknown, ctx: PiContext) => void): unknown;
  on(
    event: 'tool_call',
    handler: (event: ToolCallEvent, ctx: PiContext) => Promise<Block | undefined> | Block | undefined,
  ): unknown;
  on(event: 'tool_result', handler: (event: ToolResultEvent, ctx: PiContext) => void): unknown;
  registerFlag(name: string, options: { description: string; type: 'string'; default: string }): void;
  getFlag(name: string): boolean | string | undefined;
  registerTool(tool: ToolDefinition): void;
  getAllTools(): readonly { readonly name: string; readonly parameters?: unknown }[];
  getActiveTools(): readonly string[];
  /** Adds to the session what is not told to the model. */
  appendEntry(customType: string, data: unknown): void;
}

export interface PiContext {
  readonly cwd: string;
  /** Aborts when the turn is stopped. */
  readonly signal?: AbortSignal | undefined;
  readonly ui: {
    /** Resolves with nothing when nobody answers. */
    input(title: string, placeholder: string, options: { signal?: AbortSignal }): Promise<string | undefined>;
    setStatus(key: string, text: string): void;
  };
  readonly sessionManager: { getBranch(): readonly SessionEntry[] };
}

/** An entry of a session with the fields of all types: each type has some of them. */
export interface SessionEntry {
  readonly type: string;
  readonly customType?: string;
  readonly data?: unknown;
  readonly message?: { readonly role: string; readonly stopReason?: string };
}

export interface ToolCallEvent {
  readonly toolName: string;
  readonly toolCallId: string;
  /** The call of another tool, such as a script, that this one is a part of. */
  readonly parentToolCallId?: string;
  /** What is changed in place is what the tool is given. */
  readonly input: Record<string, unknown>;
}

export interface ToolResultEvent extends ToolCallEvent {
  readonly isError: boolean;
}

export interface Block {
  readonly block: true;
  /** Told to the model. */
  readonly reason: string;
}

export interface ToolDefinition {
  readonly name: string;
  readonly label: string;
  readonly description: string;
  readonly promptSnippet: string;
  readonly parameters: object;
  execute(
    toolCallId: string,
    params: Readonly<Record<string, unknown>>,
    signal: AbortSignal | undefined,
    onUpdate: unknown,
    ctx: PiContext,
  ): Promise<{ content: { type: 'text'; text: string }[]; details: undefined }>;
}

/** The call that a reader has seen begin: of one that is a part of another, that one. */
export function shownCallOf({ toolCallId, parentToolCallId }: ToolCallEvent): string {
  return parentToolCallId ?? toolCallId;
}
