import type { ArtifactRef } from '../../../contract/canonical.ts';
import type { BoundedTable } from '../bounded-table.ts';

/** What a session is saying at the moment, and how its last message began. */
export interface TextState {
  /** The open block; null between two. */
  readonly open: {
    readonly kind: 'message' | 'reasoning';
    readonly id: string;
    readonly nativeId: string | null;
  } | null;
  /** The message whose text `head` is, by the engine's id; null for an engine that gives none. */
  readonly nativeId: string | null;
  /** How the message began: a repeat of it under the same id is a silent retry. */
  readonly head: string;
  /** Text that restates the head so far and is not said yet. */
  readonly held: string;
}

export interface FileFact {
  readonly path: string;
  readonly changeType: 'create' | 'edit' | 'delete';
  readonly diff?: ArtifactRef;
}

/** What later frames of a tool call need of the earlier ones. */
export interface ToolFacts {
  readonly name: string;
  readonly title: string | null;
  readonly kind: string | null;
  /** The child in whose session it was called; null: the turn's own. */
  readonly owner: string | null;
  /** `held`: its input is still being written, so it is not said yet. */
  readonly phase: 'held' | 'open' | 'done';
  /** A preview of the newest input; null once the call is done. */
  readonly input: unknown;
  /** The newest preview of its output, to leave out repeats. */
  readonly shown: string;
  readonly status: string | null;
  readonly files: readonly FileFact[];
  /** Paths that were written through us while it was open: they changed even when the tool fails. */
  readonly written: readonly string[];
  /** The child that it launched, while the call itself is what is known of it. */
  readonly child: { readonly role: string | null; readonly isDetached: boolean } | null;
  /** Its plan as it was last said. */
  readonly plan: string;
}

/** What an ACP connection has told so far, as far as its later frames lean on it. */
export interface AcpState {
  readonly sessionId: string | null;
  readonly cwd: string | null;
  readonly turn: 'before' | 'open' | 'over';
  /** Between a request that replays a session and its answer. */
  readonly isReplaying: boolean;
  /** Counts the messages without an id of the engine's. */
  readonly unnamedMessages: number;
  /** How often a message id was given out. */
  readonly usedIds: BoundedTable<number>;
  /** By session: the empty string for the turn's own, else the child's id. */
  readonly texts: BoundedTable<TextState>;
  readonly tools: BoundedTable<ToolFacts>;
  /** Child sessions by id. */
  readonly children: BoundedTable<{ readonly isRunning: boolean }>;
  /** Messages between sessions: the child that they are about, and whether it is who speaks. */
  readonly letters: BoundedTable<{ readonly childId: string; readonly isFromChild: boolean }>;
  /** Files that were said for a write of which no tool was known. */
  readonly looseWrites: readonly string[];
  /** What an answer will need of its request, by direction and id. */
  readonly asked: BoundedTable<Readonly<Record<string, string>>>;
  /** How much of each terminal's output was said, and how that ended. */
  readonly terminals: BoundedTable<{ readonly chars: number; readonly tail: string }>;
  /** Mode, model and other options as they were last said. */
  readonly settings: BoundedTable<string>;
  readonly contextFill: string;
  readonly costUsd: number | null;
  /** The engine has said that the turn failed: what it then says as text is the error. */
  readonly isFailing: boolean;
}

export const INITIAL_ACP_STATE: AcpState = {
  sessionId: null,
  cwd: null,
  turn: 'before',
  isReplaying: false,
  unnamedMessages: 0,
  usedIds: [],
  texts: [],
  tools: [],
  children: [],
  letters: [],
  looseWrites: [],
  asked: [],
  terminals: [],
  settings: [],
  contextFill: '',
  costUsd: null,
  isFailing: false,
};

/** The limits of the tables: a turn with more open things at once forgets the oldest. */
export const TABLE_LIMITS = {
  usedIds: 300,
  texts: 50,
  tools: 300,
  children: 200,
  letters: 50,
  looseWrites: 100,
  asked: 100,
  terminals: 50,
  settings: 50,
} as const;
