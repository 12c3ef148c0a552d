import type { WireFrame } from '../wire/wire-frame.ts';

/** A line of `codex exec --json`. */
export type ExecEvent = Readonly<Record<string, unknown>>;

/** How the process is started, and what it is told. */
export interface ExecInvocation {
  readonly args: readonly string[];
  /** The thread that it takes up; null for one that begins. */
  readonly threadId: string | null;
  readonly input: string;
}

/** An event as a lane keeps it: its type, and its other fields as `params`. */
export function execFrame({ type, ...params }: ExecEvent): WireFrame {
  return { type: typeof type === 'string' ? type : 'unknown', dir: 'recv', params };
}

export function invocationFrame({ args, threadId, input }: ExecInvocation): WireFrame {
  return { type: 'exec', dir: 'send', params: { arguments: args, threadId, input } };
}
