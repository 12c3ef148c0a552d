import { z } from 'zod';
import type {
  AgentContext,
  AgentToolResult,
  AssistantMessage,
  Message,
  StopReason,
  Tool,
  ToolCall,
} from '../agent-messages.ts';
import type { Agent } from './bus-event.ts';
import { flag, line, method, name, objectSchema, order, toolName } from './record-field.ts';

/**
 * The eleven kinds of records that an extension registers (extension contracts, "Register kinds"): names and fields are the
 * contract's in camelCase, without the marks `?` and `!`. A method may be asynchronous wherever the contract has a value.
 */
type Awaitable<Value> = Value | Promise<Value>;

/** Where a provider's key comes from. `refused` (addition): the key that the provider has just turned down. */
export interface AuthBackendRecord {
  readonly name: string;
  apiKey(refused?: string): Awaitable<string | null>;
  login?(options: Readonly<Record<string, unknown>>): Awaitable<unknown>;
  logout?(): Awaitable<unknown>;
}

/** What a command, a control, a panel, a status item and a snapshot see of the thread that they are asked for. */
export interface CallerState {
  /** Null where nothing of a thread is asked for. */
  readonly threadId: string | null;
  /** The run that has the thread's turn, or its newest one. */
  readonly agent: Agent | null;
  readonly isBusy: boolean;
  readonly signal: AbortSignal;
  /** Starts a run with this input, or hands it to the one that has the turn; gives the run's id. */
  submit(input: string, options?: SubmitOptions): Promise<{ readonly runId: string; readonly queued: boolean }>;
}

export interface SubmitOptions {
  readonly whenBusy?: 'enqueue' | 'steer' | 'follow_up' | 'interrupt' | 'reject';
  readonly settings?: Readonly<Record<string, unknown>>;
}

/** `/<name> <args>`. `idleOnly`: refused while a run has the thread's turn. */
export interface CommandRecord {
  readonly name: string;
  readonly description?: string;
  readonly idleOnly?: boolean;
  readonly order?: number;
  handler(args: string, caller: CallerState): Awaitable<unknown>;
}

export interface ControlRecord {
  readonly name: string;
  readonly description?: string;
  handler(context: CallerState): Awaitable<unknown>;
}

/** What a hook may know of the call beside its name and arguments. */
export interface HookContext {
  readonly agent: Agent;
  readonly toolCallId: string;
  readonly tool: Tool;
  readonly cwd: string;
  readonly signal: AbortSignal;
}

export type Veto = { readonly block: true; readonly reason: string };

/** A hook sees the arguments before they are validated, as a copy: it cannot rewrite them. */
export interface HookRecord {
  /** For diagnostics (addition). */
  readonly name?: string;
  beforeTool(
    toolName: string,
    args: Readonly<Record<string, unknown>>,
    context: HookContext,
  ): Awaitable<Veto | { readonly block?: false } | null | undefined | void>;
}

export interface IntrospectRecord {
  readonly name: string;
  readonly description?: string;
  snapshot(context: CallerState): Awaitable<unknown>;
}

export interface PanelRecord {
  readonly name: string;
  readonly title?: string;
  enabled?(context: CallerState): Awaitable<boolean>;
  render(context: CallerState): Awaitable<unknown>;
}

/** What a presenter is run with is its program's: see `clients/cli`. */
export interface PresenterRecord<Context = never> {
  readonly name: string;
  init?(context: Context): Awaitable<void>;
  run(context: Context): Awaitable<void>;
  shutdown?(context: Context): Awaitable<void>;
}

export interface CallOptions {
  readonly signal: AbortSignal;
  /** No byte from the provider for so long ends the call as `provider_stalled`. */
  readonly stallMs: number;
  /** The id of this message's n-th tool call, from 0. */
  readonly toolCallId: (index: number) => string;
}

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

/**
 * A source of model answers.
 *
 * **Contract:** `complete` never throws for what the provider or the network does: it returns `stopReason: 'error'` with a
 * safe `errorMessage` (no key, no raw body, one line, at most 500 characters) and `error`. When `options.signal` aborts it
 * returns soon with `stopReason: 'aborted'`, the request closed, and the text so far. Tool calls of an answer that did not
 * end well are left out: they may be cut short. One call is one attempt; retrying is the caller's. `content` equals the
 * deltas that were said, joined.
 */
export interface ProviderRecord {
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

/** A backend's sessions are its own: `Session`, its options and what it tells of one. */
export interface SessionBackendRecord<Session = unknown, Options = unknown, Info = unknown> {
  readonly name: string;
  open(options: Options): Awaitable<Session>;
  openExisting(path: string, options: Options): Awaitable<Session>;
  append(session: Session, message: Message): Awaitable<void>;
  close(session: Session): Awaitable<void>;
  load(path: string, options: Options): Awaitable<readonly Message[]>;
  find(options: Options): Awaitable<readonly Info[]>;
  list(options: Options): Awaitable<readonly Info[]>;
  latest(options: Options): Awaitable<Info | null>;
}

/** A short text of the status row; null or an empty text hides it. */
export interface StatusRecord {
  readonly name: string;
  readonly order?: number;
  render(context: CallerState): Awaitable<string | null | undefined>;
}

/** What a tool is run with (in the place of the contract's yield function: `signal` says when to stop). */
export interface ToolRunContext {
  readonly agent: Agent;
  readonly toolCallId: string;
  /** The thread's own folder, an absolute path. */
  readonly workspace: string;
  readonly signal: AbortSignal;
}

/** A tool. `approval`, `repeatable` and `parallelSafe` are additions; left out they are `never`, false and false. */
export interface ToolRecord extends Tool {
  readonly label?: string;
  /** `always`: a person is asked before each call. */
  readonly approval?: 'never' | 'always';
  /** Safe to run again after an attempt that died without a result. */
  readonly repeatable?: boolean;
  /** May run beside other calls of the same message. */
  readonly parallelSafe?: boolean;
  execute(args: Readonly<Record<string, unknown>>, context: ToolRunContext): Awaitable<AgentToolResult>;
}

/** Each kind's record. */
export interface RegisterRecords {
  'auth-backend': AuthBackendRecord;
  command: CommandRecord;
  control: ControlRecord;
  hook: HookRecord;
  introspect: IntrospectRecord;
  panel: PanelRecord;
  presenter: PresenterRecord;
  provider: ProviderRecord;
  'session-backend': SessionBackendRecord;
  status: StatusRecord;
  tool: ToolRecord;
}
export type RegisterKind = keyof RegisterRecords;

const described = { name, description: line.optional() };

/** `AgentTool`: a tool with what the loop needs to run it; the record of the kind `tool`. */
export const AgentTool = z.looseObject({
  name: toolName,
  description: line.min(1, 'must not be empty'),
  parameters: objectSchema,
  execute: method,
  label: line.optional(),
  approval: z.enum(['never', 'always'], { error: 'must be "never" or "always"' }).optional(),
  repeatable: flag.optional(),
  parallelSafe: flag.optional(),
});

/** What is checked when a record is registered. Fields that the contract does not know are the record's own. */
export const REGISTER_SCHEMAS = {
  'auth-backend': z.looseObject({ name, apiKey: method, login: method.optional(), logout: method.optional() }),
  command: z.looseObject({ ...described, handler: method, idleOnly: flag.optional(), order: order.optional() }),
  control: z.looseObject({ ...described, handler: method }),
  hook: z.looseObject({ name: name.optional(), beforeTool: method }),
  introspect: z.looseObject({ ...described, snapshot: method }),
  panel: z.looseObject({ name, title: line.optional(), enabled: method.optional(), render: method }),
  presenter: z.looseObject({ name, init: method.optional(), run: method, shutdown: method.optional() }),
  provider: z.looseObject({
    name,
    api: name,
    complete: method,
    convertMessages: method,
    convertTools: method,
    mapStopReason: method,
    parseResponse: method,
    buildBody: method,
  }),
  'session-backend': z.looseObject({
    name,
    open: method,
    openExisting: method,
    append: method,
    close: method,
    load: method,
    find: method,
    list: method,
    latest: method,
  }),
  status: z.looseObject({ name, order: order.optional(), render: method }),
  tool: AgentTool,
} as const satisfies Record<RegisterKind, z.ZodType>;

export const REGISTER_KINDS = Object.keys(REGISTER_SCHEMAS) as readonly RegisterKind[];
