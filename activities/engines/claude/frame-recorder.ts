import type { NativeFrame } from '../../../contract/frames.ts';
import { fitted } from '../wire/frame-fit.ts';
import type { WireFrame } from '../wire/wire-frame.ts';
import { ClaudeFrames, type ClaudeMessage } from './claude-frames.ts';
import type { Kept } from './claude-schema.ts';
import { TextPieces } from './text-pieces.ts';

export interface RecorderParts {
  emit(frame: NativeFrame): Promise<void>;
  /** Takes out of a message what is too large for a frame; null when it has nothing of the kind. */
  keptOf(message: ClaudeMessage): Promise<Kept | null>;
}

/**
 * Stores the messages of one process, both ways.
 *
 * **Contract:** frames are emitted in the order of the calls; a call resolves when its frames are taken. A long text becomes several
 * frames, what else is long is shortened, and what was kept elsewhere stands in `kept`. After a frame could not be emitted every
 * call rejects with that fault.
 */
export class ClaudeFrameRecorder {
  readonly #parts: RecorderParts;
  readonly #frames = new ClaudeFrames();
  readonly #pieces = new TextPieces();
  #last: Promise<unknown> = Promise.resolve();

  constructor(parts: RecorderParts) {
    this.#parts = parts;
  }

  async record(dir: WireFrame['dir'], message: ClaudeMessage): Promise<void> {
    await this.#inOrder(async () => {
      const kept = dir === 'recv' ? await this.#parts.keptOf(message) : null;
      const frames = this.#pieces.framesOf(this.#frames.frameOf(dir, message), message);
      for (const early of frames.slice(0, -1)) await this.#parts.emit(fitted(early));
      for (const last of frames.slice(-1)) await this.#parts.emit(fitted(kept === null ? last : { ...last, kept }));
    });
  }

  async recordMalformed(text: string): Promise<void> {
    await this.#inOrder(async () => await this.#parts.emit({ type: 'malformed', dir: 'recv', text }));
  }

  async #inOrder(work: () => Promise<void>): Promise<void> {
    const done = this.#last.then(work);
    this.#last = done;
    // whoever waits for this call is told; the chain alone must not end the process
    done.catch(() => undefined);
    await done;
  }
}
