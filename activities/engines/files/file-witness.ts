import type { ClientFiles, FileLook } from './client-files.ts';

/** What a tool did to a file; `undefined` for a text that nobody knows. */
export interface FileEdit {
  readonly path: string;
  readonly before: string | null | undefined;
  readonly after: string | null | undefined;
  readonly isDelete: boolean;
}

/** The clock of the file system lags behind the process's by a tick. */
const CLOCK_SLACK_MS = 20;
const REMEMBERED_FILES = 1_000;

/**
 * Says what a tool changed whose engine gives no diff: its files are looked at when the engine names them, and again when the tool
 * has ended.
 *
 * **Contract:** an engine does not wait for us, and what it says of a tool may come after the tool has written. So a text is taken for
 * the one before only if the file was not written since this was made, or since a tool ended that we looked at.
 */
export class FileWitness {
  readonly #files: Pick<ClientFiles, 'look'>;
  readonly #startedAtMs = Date.now();
  /** When the files of tools that have ended were written last. */
  readonly #written = new Map<string, number>();

  constructor(files: Pick<ClientFiles, 'look'>) {
    this.#files = files;
  }

  async look(path: string): Promise<FileLook> {
    return await this.#files.look(path);
  }

  /** What became of a file whose tool has ended; `wasAbsent` and `isDelete` are the engine's own words. */
  async editOf(
    path: string,
    seen: FileLook,
    { wasAbsent, isDelete }: { wasAbsent: boolean; isDelete: boolean },
  ): Promise<FileEdit> {
    const isAsBefore = seen !== null && this.#isAsBefore(path, seen.writtenAtMs);
    const now = await this.#files.look(path);
    if (now !== null) this.#noteWritten(path, now.writtenAtMs);
    // where we looked too late, or in vain, the engine may say at least whether there was a file
    const unseen = wasAbsent ? null : undefined;
    const before = isAsBefore ? seen.text : unseen;
    const isGone = before != null && now?.text === null;
    return { path, before, after: now?.text, isDelete: isGone || isDelete };
  }

  #isAsBefore(path: string, writtenAtMs: number): boolean {
    return writtenAtMs < this.#startedAtMs - CLOCK_SLACK_MS || writtenAtMs === this.#written.get(path);
  }

  #noteWritten(path: string, writtenAtMs: number): void {
    this.#written.set(path, writtenAtMs);
    const [oldest] = this.#written.keys();
    if (this.#written.size > REMEMBERED_FILES && oldest !== undefined) this.#written.delete(oldest);
  }
}
