import type { Message } from './agent-messages.ts';

/** The first line of a session file: whose conversation it is and where it was held. */
export interface SessionHeader {
  readonly type: 'session';
  readonly version: 1 | 2;
  readonly id: string;
  /** ISO 8601. */
  readonly timestamp: string;
  readonly cwd: string;
}

interface EntryBase {
  /** Null in files of version 1, whose entries have no ids. */
  readonly id: string | null;
  /** The entry before this one. */
  readonly parentId: string | null;
  /** ISO 8601. */
  readonly timestamp: string;
}

export interface MessageEntry extends EntryBase {
  readonly type: 'message';
  readonly message: Message;
}

/** From here on the model sees the summary and what follows from the first kept entry. */
export interface CompactionEntry extends EntryBase {
  readonly type: 'compaction';
  readonly summary: string;
  readonly firstKeptEntryId: string;
  readonly tokensBefore?: number;
  readonly tokensAfter?: number;
  readonly guidance?: string;
  readonly trigger?: string;
}

/** What an extension keeps with the conversation; its last one counts. */
export interface ExtensionStateEntry extends EntryBase {
  readonly type: 'extension-state';
  readonly extension: string;
  readonly version: number;
  readonly state: Readonly<Record<string, unknown>>;
}

/** What a session is made of behind its header. */
export type SessionEntry = MessageEntry | CompactionEntry | ExtensionStateEntry;

/** A line of a type that this version does not know; readers pass over it. */
export interface UnknownEntry {
  readonly type: 'unknown';
  /** The line as it was. */
  readonly text: string;
}
