import type { NativeFrame } from '../../../contract/frames.ts';
import { fitted } from '../wire/frame-fit.ts';
import { PiFrames, type PiMessage } from './pi-frames.ts';
import type { Kept } from './pi-schema.ts';

export interface RecorderParts {
  emit(frame: NativeFrame): Promise<void>;
  /** Takes out of a message what is too large for a frame; null when it has nothing of the kind. */
  keptOf(message: PiMessage): Promise<Kept | null>;
}

/**
 * Stores the messages of one pi process, both ways, as `PiFrames` gives them.
 *
 * **Contract:** frames are emitted in the order of the calls; a call resolves when its frames are taken. What was kept elsewhere
 * stands in `kept` of a message's last frame. After a frame could not be emitted every call rejects with that fault.
 */
export class PiFrameRecorder {
  readonly #parts: RecorderParts;
  readonly #frames = new PiFrames();
  #last: Promise<void> = Promise.resolve();

  constructor(parts: RecorderParts) {
    this.#parts = parts;
  }

  async record(dir: 'recv' | 'send', message: PiMessage): Promise<void> {
    await this.#inOrder(async () => {
      const kept = dir === 'recv' ? await this.#parts.keptOf(message) : null;
      const frames = this.#frames.framesOf(dir, message);
      for (const early of frames.slice(0, -1)) await this.#parts.emit(early);
      const last = frames.at(-1);
      if (last !== undefined) await this.#parts.emit(kept === null ? last : fitted({ ...last, kept }));
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
