import { mkdir, open, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { TidemarkError } from '../../../../contract/errors.ts';
import type { SessionEntry, SessionHeader } from '../../../../contract/session-entry.ts';
import { SESSION_LINE_LIMIT_BYTES, writeSessionLine } from '../../../../contract/session-jsonl.ts';
import { takeLock } from '../../../../infra/lock.mjs';

/**
 * A session file that is written to.
 *
 * **Contract:** one writer a file, among the processes of one machine; the lock of one that died counts no more. A line is one
 * write behind what is there, and is stored for good when `close` has resolved. A line that a crash has cut is closed by a new
 * line before the next, so that it spoils no other.
 */
export class JsonlWriter {
  readonly #path: string;
  readonly #file: FileHandle;
  readonly #release: () => void;
  #isCut: boolean;

  private constructor(path: string, file: FileHandle, release: () => void, isLastLineCut: boolean) {
    this.#path = path;
    this.#file = file;
    this.#release = release;
    this.#isCut = isLastLineCut;
  }

  /** @throws TidemarkError `session_busy` */
  static async open(path: string): Promise<JsonlWriter> {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const lock = await takeLock(`${path}.lock`, { waitMs: 0 });
    if ('heldBy' in lock) throw busy(lock.heldBy);
    try {
      const file = await open(path, 'a+', 0o600);
      return new JsonlWriter(path, file, lock.release, await isCut(file));
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  async isEmpty(): Promise<boolean> {
    return (await this.#file.stat()).size === 0;
  }

  async write(line: SessionHeader | SessionEntry): Promise<void> {
    const text = writeSessionLine(line);
    if (Buffer.byteLength(text) > SESSION_LINE_LIMIT_BYTES) throw tooLong();
    const whole = this.#isCut ? `\n${text}` : text;
    this.#isCut = true;
    await this.#file.appendFile(whole);
    this.#isCut = false;
  }

  async close(): Promise<void> {
    try {
      await this.#file.sync();
      await syncFolder(dirname(this.#path));
    } finally {
      await this.#file.close();
      this.#release();
    }
  }
}

async function isCut(file: FileHandle): Promise<boolean> {
  const { size } = await file.stat();
  if (size === 0) return false;
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
  return buffer[0] !== 0x0a;
}

/** A new file's name is stored with its folder. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

function busy(pid: number): TidemarkError {
  return new TidemarkError(
    'session_busy',
    `process ${String(pid)} writes this session`,
    'Wait until it has closed the session, or end that process.',
    { facts: { held_by: pid } },
  );
}

function tooLong(): TidemarkError {
  return new TidemarkError(
    'payload_too_large',
    `the message is over ${String(SESSION_LINE_LIMIT_BYTES)} bytes as a line`,
    'Keep what is large outside of the conversation.',
    { facts: { limit_bytes: SESSION_LINE_LIMIT_BYTES } },
  );
}
