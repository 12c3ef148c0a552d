import type { BoundedTable } from '../bounded-table.ts';
import { NO_CALLS, type ToolCalls } from '../hosted/open-calls.ts';
import { NO_TEXTS, type OpenTexts } from '../hosted/open-texts.ts';
import type { Tokens } from '../hosted/tokens.ts';

/** What the translator remembers from frame to frame: plain JSON. */
export interface LangGraphState {
  readonly texts: OpenTexts;
  readonly calls: ToolCalls;
  /** Messages of models, by their speaker and id. */
  readonly messages: BoundedTable<SeenMessage>;
  /** Sub-agents that work, by their namespace. */
  readonly children: BoundedTable<Child>;
  /** Namespaces of sub-agents that have ended, the newest last. */
  readonly gone: readonly string[];
  /** The call that runs in a place, where the library says so; null where there are several. */
  readonly launches: BoundedTable<string | null>;
  /** The message that a model call writes (protocol events). */
  readonly streams: BoundedTable<string>;
  /** What the run's own agent has used so far. */
  readonly used: Tokens;
  /** The model that the run's own agent asked last. */
  readonly model: string | null;
  /** A person was asked, and the stream ends with the question open. */
  readonly isAsking: boolean;
  /** The run was asked to stop. */
  readonly isCancelled: boolean;
}

export interface SeenMessage {
  readonly hasText: boolean;
  readonly isCounted: boolean;
  /** It was said whole: what comes of it again says nothing new. */
  readonly isWhole: boolean;
}

export interface Child {
  /** The call that it works for; null where several are possible. */
  readonly call: string | null;
  readonly used: Tokens;
  /** The attempt at a step in which it was said. */
  readonly saidIn: string;
}

export const TABLE_LIMITS = { messages: 200, children: 100, launches: 200, streams: 100 } as const;

export const INITIAL_LANGGRAPH_STATE: LangGraphState = {
  texts: NO_TEXTS,
  calls: NO_CALLS,
  messages: [],
  children: [],
  gone: [],
  launches: [],
  streams: [],
  used: {},
  model: null,
  isAsking: false,
  isCancelled: false,
};
