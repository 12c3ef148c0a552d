import type { LifecycleEvent } from '../../../contract/lifecycle.ts';

/** What an adapter is told with a new turn. */
export interface LifecycleRequest {
  /** The `run_id` of each event of the stream that answers. */
  readonly run_id: string;
  /** The `conversation_id` of each event: the thread. The adapter's session is this conversation. */
  readonly conversation_id: string;
  /** What the person says. */
  readonly input: string;
  /** The model that the run names; null: the adapter's own choice. */
  readonly model: string | null;
  /** True: the adapter said that it keeps sessions, and this one has turns before. */
  readonly resumed: boolean;
}

/** What an adapter is told when its interrupt has its answer. */
export interface LifecycleResume {
  /** The new stream's; the interrupted one's is `interrupted_run_id`. */
  readonly run_id: string;
  readonly conversation_id: string;
  readonly interrupted_run_id: string;
  readonly interrupt_id: string;
  readonly resume: LifecycleDecision;
}

export type LifecycleDecision =
  | { readonly type: 'form_input'; readonly values: Readonly<Record<string, unknown>> }
  | { readonly type: 'form_input'; readonly dismissed: true }
  /** One for each of `tool_approvals`, in its order. */
  | { readonly type: 'tool_approval'; readonly decisions: readonly ToolDecision[] };

export interface ToolDecision {
  readonly tool_call_id: string;
  readonly tool_name: string;
  readonly decision: 'approve' | 'edit' | 'reject';
  /** Of `edit`: the arguments to use. */
  readonly edited_args?: Readonly<Record<string, unknown>>;
  /** Of `reject`: what the person says to it. */
  readonly message?: string;
}

export interface LifecycleCancel {
  readonly run_id: string;
  readonly conversation_id: string;
}

/**
 * What a module of the `lifecycle` engine exports.
 *
 * **Contract:** each stream is a whole stream of Canonical Lifecycle Events v1 (`docs/lifecycle.md`): `run.started` with sequence 0
 * first, one terminal last, `run_id` and `conversation_id` as asked for. Tool call ids are unique in the conversation; the ids of
 * messages are unique in their stream. Every event is judged as it is yielded: the first that breaks a rule ends the run, and the
 * generator is returned. When `signal` aborts, the stream ends soon with `run.cancelled`.
 */
export interface LifecycleAdapter {
  stream(request: LifecycleRequest, options: { readonly signal: AbortSignal }): AsyncIterable<LifecycleEvent>;
  /** The turn after its `run.interrupted`. */
  resume(request: LifecycleResume, options: { readonly signal: AbortSignal }): AsyncIterable<LifecycleEvent>;
  /** Told beside the signal, for work that no signal reaches. */
  cancel?(request: LifecycleCancel): Promise<void> | void;
  /** Flags of `contract/capabilities.ts`. `resume: true`: conversations are kept, so `run.finished` must carry a committed `thread_state`. */
  readonly capabilities?: Readonly<Record<string, boolean>>;
}
