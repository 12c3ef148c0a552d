import { open, readFile, rename } from 'node:fs/promises';

/**
 * A file that is replaced whole and read whole.
 *
 * **Contract:** a process that dies in the middle of a write leaves what was there before. Writes take effect in the order of the
 * calls, and are on the disk when they resolve.
 */
export class WholeFile {
  readonly #path: string;
  #last: Promise<void> = Promise.resolve();

  constructor(path: string) {
    this.#path = path;
  }

  /** Null: there is none. */
  async read(): Promise<string | null> {
    try {
      return await readFile(this.#path, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw error;
    }
  }

  /** `text` is asked for when the writes before are done. */
  async write(text: () => string): Promise<void> {
    const written = this.#last.then(() => this.#replace(text()));
    this.#last = written.catch(() => undefined);
    await written;
  }

  async #replace(text: string): Promise<void> {
    const part = `${this.#path}.new`;
    const file = await open(part, 'w', 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(part, this.#path);
  }
}
