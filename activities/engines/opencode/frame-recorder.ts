import type { NativeFrame } from '../../../contract/frames.ts';
import { fitted } from '../wire/frame-fit.ts';
import type { WireFrame } from '../wire/wire-frame.ts';
import { answerFrame, callFrame, type ServerAnswer, type ServerCall } from './call-frames.ts';
import { EventFrames } from './event-frames.ts';
import type { Kept, ServerEvent } from './opencode-schema.ts';

export interface RecorderParts {
  emit(frame: NativeFrame): Promise<void>;
  /** Takes out of an event what is too large for a frame; null when it has nothing of the kind. */
  keptOf(event: ServerEvent): Promise<Kept | null>;
}

/**
 * Stores what is said to one server and what it says.
 *
 * **Contract:** frames are emitted in the order of the calls; a call resolves when its frames are taken. What is long is split or
 * shortened, and what was kept elsewhere stands in `kept`. After a frame could not be emitted every call rejects with that fault.
 */
export class OpencodeFrameRecorder {
  readonly #parts: RecorderParts;
  readonly #events = new EventFrames();
  #calls = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(parts: RecorderParts) {
    this.#parts = parts;
  }

  /** Takes an event; resolves when it is stored. */
  async recordEvent(event: ServerEvent): Promise<void> {
    await this.#inOrder(async () => {
      const kept = await this.#parts.keptOf(event);
      const frames = this.#events.framesOf(event).map(fitted);
      const last = frames.pop();
      for (const frame of frames) await this.#parts.emit(frame);
      if (last !== undefined) await this.#parts.emit(kept === null ? last : fitted({ ...last, kept }));
    });
  }

  /** Takes a request, which is not sent before this resolves; what it gives takes the answer. */
  async recordCall(call: ServerCall): Promise<(answer: ServerAnswer) => Promise<void>> {
    this.#calls += 1;
    const id = this.#calls;
    await this.#emit(callFrame(id, call));
    return async (answer) => await this.#emit(answerFrame(id, call, answer));
  }

  /** Events were missed, and are read from the session's own store: `message` says so. */
  async recordMissed(message: string): Promise<void> {
    this.#events.breakTexts();
    await this.#emit({ type: 'events.missed', dir: 'recv', params: { message } });
  }

  async recordMalformed(text: string): Promise<void> {
    await this.#emit({ type: 'malformed', dir: 'recv', params: { text } });
  }

  hasEnded(partId: string): boolean {
    return this.#events.hasEnded(partId);
  }

  async #emit(frame: WireFrame): Promise<void> {
    await this.#inOrder(async () => await this.#parts.emit(fitted(frame)));
  }

  async #inOrder<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done;
    // whoever waits for this call is told; the chain alone must not end the process
    done.catch(() => undefined);
    return await done;
  }
}
