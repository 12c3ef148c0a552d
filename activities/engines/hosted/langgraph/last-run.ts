import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { WholeFile } from '../whole-file.ts';

/** Which run had the last turn of a thread: a checkpoint does not say it. */
export class LastRun {
  readonly #file: WholeFile;
  /** Before this process; null: none, or nobody knows. */
  readonly id: string | null;

  private constructor(file: WholeFile, id: string | null) {
    this.#file = file;
    this.id = id;
  }

  static async of(folder: string, threadId: string): Promise<LastRun> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const file = new WholeFile(join(folder, `${threadId}.run`));
    return new LastRun(file, await file.read());
  }

  async note(runId: string): Promise<void> {
    await this.#file.write(() => runId);
  }
}
