import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { WholeFile } from '../whole-file.ts';
import type { ModelMessage } from './agent-shape.ts';
import type { AskedCall } from './streamed-step.ts';

/** A conversation with an agent, as the next process takes it up. */
export interface SavedSession {
  readonly version: 1;
  /** Of the turn that is in it last. */
  readonly runId: string;
  readonly messages: readonly ModelMessage[];
  /** What that turn waits for a person to decide. */
  readonly asked: readonly AskedCall[];
}

/** A session of a thread with an agent. */
export class SessionFile {
  readonly id: string;
  readonly #file: WholeFile;

  private constructor(folder: string, id: string) {
    this.id = id;
    this.#file = new WholeFile(join(folder, `${id}.json`));
  }

  /** The session of that id with what is in it, or a new one, whose content is null. */
  static async take(folder: string, known: string | null): Promise<{ file: SessionFile; saved: SavedSession | null }> {
    if (known !== null && NAME.test(known)) {
      const file = new SessionFile(folder, known);
      const text = await file.#file.read();
      const saved = text === null ? null : (JSON.parse(text) as SavedSession);
      if (saved?.version === 1) return { file, saved };
    }
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return { file: new SessionFile(folder, randomUUID()), saved: null };
  }

  async save(session: SavedSession): Promise<void> {
    const text = JSON.stringify(session);
    await this.#file.write(() => text);
  }
}

const NAME = /^[0-9a-f-]{36}$/;
