import { access } from 'node:fs/promises';
import { basename, isAbsolute } from 'node:path';
import { v7 } from 'uuid';
import type { Message } from '../../../../contract/agent-messages.ts';
import type { SessionEntry, SessionHeader } from '../../../../contract/session-entry.ts';
import { examineSession, type NumberedLine, type SessionIssue } from '../../../../contract/session-doctor.ts';
import { historyOf } from '../../../../contract/session-history.ts';
import { SESSION_VERSION } from '../../../../contract/session-jsonl.ts';
import type { Logger } from '../../../../infra/log.ts';
import { folderOfCwd, isInside, newSessionPath, sessionFiles, timeOfPath, type SessionFile } from './jsonl-folder.ts';
import { linesOfFile } from './jsonl-lines.ts';
import { JsonlWriter } from './jsonl-writer.ts';
import { writeRepaired } from './write-repaired.ts';
import { LIST_LIMIT } from './session-backend.ts';
import type {
  FindSessions,
  ListSessions,
  OpenSession,
  Session,
  SessionBackend,
  SessionInfo,
  SessionScope,
} from './session-backend.ts';
import { findByTarget, noSuchSession } from './session-target.ts';

/** Where work is done that has no folder of its own. */
const NO_CWD = '/';

/** An entry as its writer gives it: its place in the session is the backend's to know. */
export type NewEntry = SessionEntry extends infer Entry
  ? Entry extends SessionEntry
    ? Omit<Entry, 'id' | 'parentId' | 'timestamp'> & { readonly id?: string }
    : never
  : never;

/** Sessions as JSON Lines, a file each, of version 2; those of version 1 are read and gone on with. */
export class JsonlSessions implements SessionBackend {
  readonly name = 'jsonl';
  readonly #root: string;
  readonly #log: Logger;
  readonly #open = new WeakMap<Session, OpenFile>();

  constructor({ folder, log }: { folder: string; log: Logger }) {
    this.#root = folder;
    this.#log = log;
  }

  async open({ cwd = NO_CWD, threadId }: OpenSession): Promise<Session> {
    const id = threadId ?? v7();
    const now = new Date();
    const path = newSessionPath(folderOfCwd(this.#root, cwd), id, now);
    const header = { type: 'session', version: SESSION_VERSION, id, timestamp: now.toISOString(), cwd } as const;
    return await Promise.resolve(this.#opened({ id, path }, new OpenFile(path, header)));
  }

  /** @throws TidemarkError `session_busy` while another writer has it. */
  async openExisting(path: string, _opts: SessionScope = {}): Promise<Session> {
    const info = await this.#infoOf(path);
    if (info === null) throw noSuchSession();
    const file = new OpenFile(path, null);
    await file.begin(async () => await this.#entries(path));
    return this.#opened(info, file);
  }

  async append(session: Session, message: Message): Promise<void> {
    await this.appendEntry(session, { type: 'message', message });
  }

  /** Appends an entry of any type. One whose id the session holds is there already, and is not appended again. */
  async appendEntry(session: Session, entry: NewEntry): Promise<void> {
    const file = this.#open.get(session);
    if (file === undefined) throw new Error(`session ${session.id} is not open`);
    await file.append(entry);
  }

  /** Whether an open session holds an entry of that id. */
  holds(session: Session, entryId: string): boolean {
    return this.#open.get(session)?.holds(entryId) ?? false;
  }

  async close(session: Session): Promise<void> {
    const file = this.#open.get(session);
    this.#open.delete(session);
    await file?.close();
  }

  async load(path: string, _opts: SessionScope = {}): Promise<Message[]> {
    if ((await this.#infoOf(path)) === null) throw noSuchSession();
    return historyOf(await this.#entries(path));
  }

  async find({ target, limit = LIST_LIMIT.usual, cwd }: FindSessions): Promise<SessionInfo[]> {
    const files = await sessionFiles(this.#root, cwd);
    const lookup = {
      page: async (from: number, count: number) => await this.#infos(files, { cwd, from, count }),
      byPath: async (path: string) => (isAbsolute(path) ? await this.#infoOf(path) : null),
      byPrefix: async (prefix: string, count: number) =>
        await this.#infos(
          files.filter(({ id }) => id.startsWith(prefix)),
          { cwd, from: 0, count },
        ),
    };
    return await findByTarget(lookup, { target, limit: Math.min(limit, LIST_LIMIT.most) });
  }

  async list(opts: ListSessions): Promise<SessionInfo[]> {
    return await this.find(opts);
  }

  async latest(opts: SessionScope): Promise<SessionInfo | null> {
    return (await this.find({ ...opts, target: 'latest' }))[0] ?? null;
  }

  /** What is wrong with a session's file; with `repair` a copy without it is written beside the file, which stays as it is. */
  async doctor(
    path: string,
    { repair = false } = {},
  ): Promise<{ issues: SessionIssue[]; repairedPath: string | null }> {
    if ((await this.#infoOf(path)) === null) throw noSuchSession();
    const lines: NumberedLine[] = [];
    for await (const line of linesOfFile(path)) lines.push(line);
    return { issues: examineSession(lines), repairedPath: repair ? await writeRepaired(path, lines) : null };
  }

  #opened(session: Session, file: OpenFile): Session {
    const { id, path } = session;
    const handle = { id, path };
    this.#open.set(handle, file);
    return handle;
  }

  /** Only so many files are looked into as are asked for. */
  async #infos(
    files: readonly SessionFile[],
    { cwd, from, count }: { cwd: string | undefined; from: number; count: number },
  ): Promise<SessionInfo[]> {
    const infos: SessionInfo[] = [];
    let skipped = 0;
    for (const { path } of files) {
      if (infos.length >= count) break;
      const info = await this.#infoOf(path);
      // two places of work may have folders of one name
      if (info === null || (cwd !== undefined && info.cwd !== undefined && info.cwd !== cwd)) continue;
      if (skipped++ >= from) infos.push(info);
    }
    return infos;
  }

  async #infoOf(path: string): Promise<SessionInfo | null> {
    if (!isInside(this.#root, path) || !(await exists(path))) return null;
    const named = /_(.+)\.jsonl$/.exec(basename(path))?.[1] ?? basename(path, '.jsonl');
    for await (const { read } of linesOfFile(path)) {
      if (!read.ok || read.line.type !== 'session') break;
      const { id, timestamp, cwd } = read.line;
      return { id, path, createdAt: timestamp, cwd };
    }
    return { id: named, path, createdAt: timeOfPath(path) };
  }

  async #entries(path: string): Promise<SessionEntry[]> {
    const entries: SessionEntry[] = [];
    for await (const { number, read } of linesOfFile(path)) {
      if (!read.ok) this.#log.warn({ path, line: number, problem: read.problem }, 'a line of a session is passed over');
      else if (read.line.type !== 'session' && read.line.type !== 'unknown') entries.push(read.line);
    }
    return entries;
  }
}

/** A session's file from its first append on, and what of it must be known to go on. */
class OpenFile {
  readonly #path: string;
  readonly #header: SessionHeader | null;
  #writer: JsonlWriter | null = null;
  #last: Promise<void> = Promise.resolve();
  #parentId: string | null = null;
  readonly #ids = new Set<string>();

  constructor(path: string, header: SessionHeader | null) {
    this.#path = path;
    this.#header = header;
  }

  /** Takes the file and only then looks at what is in it. */
  async begin(read: () => Promise<readonly SessionEntry[]>): Promise<void> {
    const writer = await JsonlWriter.open(this.#path);
    try {
      for (const { id } of await read()) {
        if (id === null) continue;
        this.#ids.add(id);
        this.#parentId = id;
      }
    } catch (error) {
      await writer.close();
      throw error;
    }
    this.#writer = writer;
  }

  holds(entryId: string): boolean {
    return this.#ids.has(entryId);
  }

  /** In the order of the calls; what failed does not keep the next from being tried. */
  async append(entry: NewEntry): Promise<void> {
    const mine = this.#last.then(async () => await this.#write(entry));
    this.#last = mine.catch(() => undefined);
    await mine;
  }

  async close(): Promise<void> {
    await this.#last;
    await this.#writer?.close();
    this.#writer = null;
  }

  async #write(entry: NewEntry): Promise<void> {
    const id = entry.id ?? v7();
    if (this.#ids.has(id)) return;
    const writer = (this.#writer ??= await JsonlWriter.open(this.#path));
    if (this.#header !== null && (await writer.isEmpty())) await writer.write(this.#header);
    const timestamp = new Date().toISOString();
    await writer.write({ ...entry, id, parentId: this.#parentId, timestamp });
    this.#ids.add(id);
    this.#parentId = id;
  }
}

async function exists(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}
