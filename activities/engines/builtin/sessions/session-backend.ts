import type { Message } from '../../../../contract/agent-messages.ts';

/** Whose sessions are meant. A backend heeds what it knows of: files have a folder of work, rows a tenant. */
export interface SessionScope {
  readonly cwd?: string;
  readonly tenantId?: string;
}

export interface OpenSession extends SessionScope {
  /** The thread that the session is of; without it the session has an id of its own. */
  readonly threadId?: string;
}

export interface ListSessions extends SessionScope {
  /** So many at most; 50 where it is not given. */
  readonly limit?: number;
}

/** Which session: the newest, the n-th of the list from 0, or one by its path, its id or the only beginning of an id. */
export type SessionTarget = 'latest' | number | (string & {});

export interface FindSessions extends ListSessions {
  readonly target?: SessionTarget;
}

/** A session that is open for appending. */
export interface Session {
  readonly id: string;
  /** What `openExisting` and `load` take. */
  readonly path: string;
}

export interface SessionInfo {
  readonly id: string;
  readonly path: string;
  /** ISO 8601: when it began. */
  readonly createdAt: string;
  readonly cwd?: string;
}

/**
 * Where conversations are kept (extension contracts, `session-backend`).
 *
 * **Contract:** `open` begins a session and stores nothing before the first `append`. What was appended is stored for good when `close`
 * has resolved; appends of one session are stored in their order, whether or not they are awaited. `load` gives what the model sees of
 * a session: messages as they were appended, a compaction applied. `list` gives sessions that hold a message, the newest begun first;
 * `latest` is its first. `find` gives the sessions that a target means: none where there is no such one. Two writers of one
 * session lose nothing: their messages are all kept, or the second is refused with `session_busy`.
 *
 * @throws TidemarkError `session_not_found` for a path that names none, or one out of scope; `session_ambiguous` for a beginning that
 * several ids have; `session_malformed` for a message that cannot follow those before it.
 */
export interface SessionBackend {
  readonly name: string;
  open(opts: OpenSession): Promise<Session>;
  openExisting(path: string, opts: SessionScope): Promise<Session>;
  append(session: Session, message: Message): Promise<void>;
  close(session: Session): Promise<void>;
  load(path: string, opts: SessionScope): Promise<Message[]>;
  find(opts: FindSessions): Promise<SessionInfo[]>;
  list(opts: ListSessions): Promise<SessionInfo[]>;
  latest(opts: SessionScope): Promise<SessionInfo | null>;
}

/** So many sessions are listed where nothing is said, and at most. */
export const LIST_LIMIT = { usual: 50, most: 1_000 } as const;
