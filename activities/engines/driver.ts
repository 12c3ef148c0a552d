import type { NegotiatedCapabilities } from '../../contract/capabilities.ts';
import type { ErrorCode } from '../../contract/errors.ts';
import type { FormField, FormValues } from '../../contract/form.ts';
import type { NativeFrame } from '../../contract/frames.ts';
import type { TranslateFrame } from '../../contract/translation.ts';
import type { Logger } from '../../infra/log.ts';
import type { NamedArtifact } from './named-artifact.ts';

/** An engine whose loop is workflow code (design §3.4, "stepped"). */
export interface SteppedEngine {
  readonly drive: 'stepped';
  readonly name: string;
  readonly provider: string;
  readonly protocol: string;
  readonly capabilities: NegotiatedCapabilities;
  readonly translate: TranslateFrame;
}

export type Engine = SteppedEngine | OpaqueEngine;

/** The engines of a worker. */
export interface Engines {
  /** @throws TidemarkError `unknown_engine`: the run was accepted by a gateway that knows an engine which this worker does not. */
  of(name: string): Engine;
  /** The same, of an engine that has a loop of its own. */
  opaque(name: string): OpaqueEngine;
}

/** An engine with a loop of its own: one long activity drives it (design §3.4, "opaque"). */
export interface OpaqueEngine {
  readonly drive: 'opaque';
  /** The name that a run gives: `opencode`, `codex`, or what `tidemark.config.ts` calls it. */
  readonly name: string;
  readonly provider: string;
  /** What its driver can use at most; what a session really has is negotiated. */
  readonly capabilities: NegotiatedCapabilities;
  readonly translate: TranslateFrame;
  readonly limits: EngineLimits;
  createDriver(context: DriverContext): Driver;
}

export interface EngineLimits {
  /** No frame for so long while the model works: the turn is ended as stalled. */
  readonly stallMs: number;
  /** The same while a tool of the engine works. */
  readonly toolStallMs: number;
  /** The turn's longest time, without the time that it waited for a person. */
  readonly turnMs: number;
  /** So long an open question keeps the engine's process; then the run parks if the session can be taken up again. */
  readonly hotMs: number;
}

/**
 * Our side of one engine, for one attempt at one turn (design §9).
 *
 * **Contract:** `open` first, then `prompt` once, then `close`, which may come at any time and more than once. Everything that
 * the engine says goes through `context.emit`, in the order in which it came, before the call that it belongs to returns.
 *
 * @throws TidemarkError `engine_unavailable` (it cannot be started), `engine_lost` (it ended by itself), `engine_protocol_error`
 * (what it says is not its protocol).
 */
export interface Driver {
  /** Starts the engine, negotiates, and takes up `known` if it can, else begins a session; `resumed` says which. */
  open(known: NativeSession | null): Promise<OpenedSession | UnnamedSession>;
  /** One turn, until the engine's real settle signal. After `context.signal` it resolves as `cancelled` when the engine says so. */
  prompt(text: string): Promise<TurnEnd>;
  /** The engine is gone when this resolves: its processes are dead, its connections closed. Never throws. */
  close(): Promise<void>;
  /** Of a session that was taken up again: what became of the turn that nobody watched to its end. */
  probe?(): Promise<TurnFate>;
}

/** What a driver may use of the platform. */
export interface DriverContext {
  readonly runId: string;
  readonly threadId: string;
  /** The folder in which the engine works: absolute, there, and the thread's own. */
  readonly workspace: string;
  /** What the run named; null: the engine's own choice. */
  readonly model: string | null;
  readonly log: Logger;
  /** Aborts when the turn is to end: the driver then asks the engine to stop. */
  readonly signal: AbortSignal;
  /** Takes a native frame. Await it before more is read from the engine: it resolves late when much waits to be stored. */
  emit(frame: NativeFrame): Promise<void>;
  /**
   * Asks a person: the question is stored before it is shown, and the answer is recorded before this resolves. When the engine takes
   * the question back, `withdrawn` aborts, and the answer is `cancelled`.
   */
  readonly ask: (question: EngineQuestion, withdrawn?: AbortSignal) => Promise<EngineAnswer>;
  /** Keeps a text out of the log, for a frame to refer to. */
  keep(kept: { readonly name: string; readonly contentType: string; readonly text: string }): Promise<NamedArtifact>;
  /** Tells the name of a session that `open` could not name; resolves when it is stored, so that a crash does not lose it. */
  named(nativeSessionId: string): Promise<void>;
  /** Whose silence is watched from now on; `model` at the beginning. */
  expect(who: 'model' | 'tool'): void;
}

/** A session as an earlier turn of the thread left it. */
export interface NativeSession {
  readonly nativeSessionId: string;
  readonly protocolVersion: string;
}

export interface OpenedSession extends NativeSession {
  readonly capabilities: NegotiatedCapabilities;
  readonly resumed: boolean;
}

/** The engine names its session when it is given the turn; the driver then tells it by `context.named`. */
export type UnnamedSession = Omit<OpenedSession, 'nativeSessionId'> & { readonly nativeSessionId: null };

export type TurnEnd =
  | { readonly outcome: 'completed'; readonly stopReason: string }
  | { readonly outcome: 'cancelled' }
  /** `message` is safe to show: no stack, no key, bounded. */
  | { readonly outcome: 'failed'; readonly code: ErrorCode; readonly message: string };

export type TurnFate = 'completed' | 'failed' | 'in_progress' | 'unknown';

/** What an engine asks. `nativeId` is the engine's own id of the request, unique in its session. */
export type EngineQuestion =
  | {
      readonly kind: 'approval';
      readonly nativeId: string;
      readonly toolCallId: string;
      readonly toolName: string;
      /** What the answer is given for: another value asks anew. */
      readonly arguments: Readonly<Record<string, unknown>>;
      readonly prompt: string;
      /** Of `approve`, `always`, `edit`, `reject`: what this engine can carry out. */
      readonly options: readonly ApprovalOption[];
      /** JSON Schema of the arguments, for edited ones; null when the engine gives none. */
      readonly schema: Readonly<Record<string, unknown>> | null;
    }
  | {
      readonly kind: 'question';
      readonly nativeId: string;
      readonly toolCallId: string | null;
      readonly toolName: string;
      readonly prompt: string;
      readonly fields: readonly FormField[];
    };

export type ApprovalOption = 'approve' | 'always' | 'edit' | 'reject';

export type EngineAnswer =
  | { readonly status: 'approved'; readonly always: boolean }
  | { readonly status: 'edited'; readonly arguments: Readonly<Record<string, unknown>> }
  | { readonly status: 'rejected'; readonly message: string | null }
  | { readonly status: 'answered'; readonly values: FormValues }
  | { readonly status: 'dismissed' }
  /** Nobody answers any more: the time is over, or the run ends. */
  | { readonly status: 'expired' | 'cancelled' };
