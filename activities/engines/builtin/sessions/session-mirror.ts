import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { BUILTIN_ENGINE } from '../../../../contract/engines.ts';
import { TidemarkError } from '../../../../contract/errors.ts';
import type { Logger } from '../../../../infra/log.ts';
import type { Pool } from '../../../../infra/postgres/pool.ts';
import { findRun } from '../../../../infra/postgres/run.ts';
import { lineOfRun, messagesOfLine } from '../../../../infra/postgres/session-line.ts';
import type { JsonlSessions } from './jsonl-sessions.ts';
import { repairedPath } from './jsonl-folder.ts';
import type { Session, SessionInfo } from './session-backend.ts';

/** Another worker writes a thread's file for the time that one conversation takes. */
const BUSY_TRIES = 40;
const BUSY_PAUSE_MS = 250;

/**
 * Keeps the conversations of threads as session files, too: one file a thread, named by its id, an entry a message, named by its run
 * and its place in it.
 *
 * **Contract:** a settled run is mirrored behind the runs that lead to it; what is there is not written again, and what an earlier
 * attempt left out is made up for. Never fails a run: a failure is a warning. Of a thread that is gone nothing stays.
 */
export class SessionMirror {
  readonly #pool: Pool;
  readonly #sessions: JsonlSessions;
  readonly #log: Logger;
  readonly #working = new Map<string, Promise<void>>();

  constructor({ pool, sessions, log }: { pool: Pool; sessions: JsonlSessions; log: Logger }) {
    this.#pool = pool;
    this.#sessions = sessions;
    this.#log = log;
  }

  /** Begins to mirror a run, behind what of its thread is being mirrored. */
  settled({ runId, threadId }: { runId: string; threadId: string }): void {
    const before = this.#working.get(threadId) ?? Promise.resolve();
    const mine = before.then(async () => {
      try {
        await this.mirror(runId);
      } catch (error) {
        this.#log.warn(
          { err: error, runId },
          'run not mirrored to its session file; the next of its thread makes up for it',
        );
      }
    });
    this.#working.set(threadId, mine);
    void mine.finally(() => {
      if (this.#working.get(threadId) === mine) this.#working.delete(threadId);
    });
  }

  /** Resolves when nothing is being mirrored. */
  async idle(): Promise<void> {
    while (this.#working.size > 0) await Promise.all(this.#working.values());
  }

  /** Mirrors a run, and those that lead to it as far as they are not there. */
  async mirror(runId: string): Promise<void> {
    const run = await findRun(this.#pool, runId);
    if (run?.engine !== BUILTIN_ENGINE) return;
    const session = await this.#take(run.thread_id);
    try {
      const line = await lineOfRun(this.#pool, runId);
      const known = line.findLastIndex((one) => this.#sessions.holds(session, entryId(one, 0)));
      // the last one that is there may have been cut
      for await (const said of messagesOfLine(this.#pool, line.slice(Math.max(known, 0)))) {
        const { message } = said;
        await this.#sessions.appendEntry(session, { type: 'message', id: entryId(said.runId, said.index), message });
      }
    } finally {
      await this.#sessions.close(session);
    }
    // it may have been erased meanwhile
    if ((await findRun(this.#pool, runId)) === null) await this.remove(run.thread_id);
  }

  /** Removes a thread's file, and its repaired copy. Safe to repeat. */
  async remove(threadId: string): Promise<void> {
    const info = await this.#find(threadId);
    if (info === null) return;
    await rm(repairedPath(info.path), { force: true });
    await rm(info.path, { force: true });
  }

  async #take(threadId: string): Promise<Session> {
    for (let tries = 1; ; tries++) {
      const info = await this.#find(threadId);
      try {
        return info === null ? await this.#sessions.open({ threadId }) : await this.#sessions.openExisting(info.path);
      } catch (error) {
        const isBusy = error instanceof TidemarkError && error.code === 'session_busy';
        if (!isBusy || tries >= BUSY_TRIES) throw error;
        await sleep(BUSY_PAUSE_MS);
      }
    }
  }

  async #find(threadId: string): Promise<SessionInfo | null> {
    const found = await this.#sessions.find({ target: threadId });
    return found.find(({ id }) => id === threadId) ?? null;
  }
}

function entryId(runId: string, index: number): string {
  return `${runId}.${String(index)}`;
}
