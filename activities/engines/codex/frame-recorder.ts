import type { NativeFrame } from '../../../contract/frames.ts';
import { fitted, piecesOf, TEXT_LIMIT_CHARS } from '../wire/frame-fit.ts';
import { WireFrames, type WireFrame, type WireMessage } from '../wire/wire-frame.ts';
import type { Kept } from './codex-schema.ts';

export interface RecorderParts {
  emit(frame: NativeFrame): Promise<void>;
  /** Takes out of a message what is too large for a frame; null when it has nothing of the kind. */
  keptOf(message: WireMessage): Promise<Kept | null>;
}

/** Messages that were seen to come in pieces; the rest of a turn's are said whole. */
const REMEMBERED = 200;
type Fields = Readonly<Record<string, unknown>>;

/**
 * Stores the messages of one app-server, both ways.
 *
 * **Contract:** frames are emitted in the order of the calls; a call resolves when its frames are taken. A long piece of text
 * becomes several frames, also of a message that came whole; what else is long is shortened, and what was kept elsewhere stands
 * in `kept`. After a frame could not be emitted every call rejects with that fault.
 */
export class CodexFrameRecorder {
  readonly #parts: RecorderParts;
  readonly #wire = new WireFrames();
  readonly #inPieces = new Set<string>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(parts: RecorderParts) {
    this.#parts = parts;
  }

  async record(dir: WireFrame['dir'], message: WireMessage): Promise<WireFrame> {
    return await this.#inOrder(async () => {
      const kept = dir === 'recv' ? await this.#parts.keptOf(message) : null;
      const frame = this.#wire.frameOf(dir, message);
      const frames = this.#split(frame).map(fitted);
      const last = frames.at(-1) ?? frame;
      for (const early of frames.slice(0, -1)) await this.#parts.emit(early);
      const whole = kept === null ? last : fitted({ ...last, kept });
      await this.#parts.emit(whole);
      return whole;
    });
  }

  async recordMalformed(text: string): Promise<void> {
    await this.#inOrder(async () => await this.#parts.emit({ type: 'malformed', dir: 'recv', text }));
  }

  #split(frame: WireFrame): WireFrame[] {
    const params = fieldsOf(frame.params);
    const { delta, itemId } = params;
    if (typeof delta === 'string') {
      this.#remember(itemId);
      if (delta.length <= TEXT_LIMIT_CHARS) return [frame];
      return piecesOf(delta).map((piece) => ({ ...frame, params: { ...params, delta: piece } }));
    }
    const item = fieldsOf(params['item']);
    const { id, type, text } = item;
    if (frame.type !== 'item/completed' || type !== 'agentMessage' || typeof text !== 'string') return [frame];
    if (text.length <= TEXT_LIMIT_CHARS || (typeof id === 'string' && this.#inPieces.has(id))) return [frame];
    const { threadId, turnId } = params;
    const deltas = piecesOf(text).map((piece): WireFrame => {
      return {
        type: 'item/agentMessage/delta',
        dir: frame.dir,
        params: { threadId, turnId, itemId: id, delta: piece },
      };
    });
    return [...deltas, frame];
  }

  #remember(itemId: unknown): void {
    if (typeof itemId !== 'string') return;
    this.#inPieces.delete(itemId);
    this.#inPieces.add(itemId);
    const [oldest] = this.#inPieces;
    if (this.#inPieces.size > REMEMBERED && oldest !== undefined) this.#inPieces.delete(oldest);
  }

  async #inOrder<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done;
    // whoever waits for this call is told; the chain alone must not end the process
    done.catch(() => undefined);
    return await done;
  }
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}
