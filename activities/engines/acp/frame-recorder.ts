import type { NativeFrame } from '../../../contract/frames.ts';
import { WireFrames, type WireFrame, type WireMessage } from '../wire/wire-frame.ts';
import { fitted, piecesOf, TEXT_LIMIT_CHARS } from '../wire/frame-fit.ts';
import type { Kept } from './kept-content.ts';

export interface RecorderParts {
  emit(frame: NativeFrame): Promise<void>;
  /** Takes out of a message what is too large for a frame; null when it has nothing of the kind. */
  keptOf(dir: WireFrame['dir'], message: WireMessage): Promise<Kept | null>;
}

/**
 * Stores the messages of one connection, both ways.
 *
 * **Contract:** frames are emitted in the order of the calls; a call resolves when its frames are taken. A long piece of text
 * becomes several frames, what else is long is shortened, and what was kept elsewhere stands in `kept`. After a frame could
 * not be emitted every call rejects with that fault.
 */
export class FrameRecorder {
  readonly #parts: RecorderParts;
  readonly #wire = new WireFrames();
  #last: Promise<unknown> = Promise.resolve();

  constructor(parts: RecorderParts) {
    this.#parts = parts;
  }

  async record(dir: WireFrame['dir'], message: WireMessage): Promise<WireFrame> {
    return await this.#inOrder(async () => {
      const kept = await this.#parts.keptOf(dir, message);
      const frame = this.#wire.frameOf(dir, message);
      for (const early of earlyPieces(frame)) await this.#parts.emit(fitted(early));
      const last = fitted(kept === null ? lastPiece(frame) : { ...lastPiece(frame), kept });
      await this.#parts.emit(last);
      return last;
    });
  }

  async recordMalformed(text: string): Promise<void> {
    await this.#inOrder(async () => await this.#parts.emit({ type: 'malformed', dir: 'recv', text }));
  }

  async #inOrder<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done;
    // whoever waits for this call is told; the chain alone must not end the process
    done.catch(() => undefined);
    return await done;
  }
}

const CHUNKS: ReadonlySet<unknown> = new Set(['agent_message_chunk', 'agent_thought_chunk', 'user_message_chunk']);
type Fields = Readonly<Record<string, unknown>>;

/** The frames before the last, of a piece of text that is too long for one. */
function earlyPieces(frame: WireFrame): WireFrame[] {
  const text = longText(frame);
  return text === null ? [] : piecesOf(text.value).slice(0, -1).map(text.early);
}

function lastPiece(frame: WireFrame): WireFrame {
  const text = longText(frame);
  return text === null ? frame : text.last(piecesOf(text.value).at(-1) ?? '');
}

/** A text that goes on where the one before it ended: of a message, or of a terminal as codex-acp sends it. */
function longText(frame: WireFrame) {
  if (frame.type !== 'session/update') return null;
  const params = fieldsOf(frame.params);
  const update = fieldsOf(params['update']);
  const withUpdate = (next: Fields): WireFrame => ({ ...frame, params: { ...params, update: next } });
  const content = fieldsOf(update['content']);
  if (CHUNKS.has(update['sessionUpdate']) && isLong(content['text'])) {
    const piece = (text: string) => withUpdate({ ...update, content: { ...content, text } });
    return { value: content['text'], early: piece, last: piece };
  }
  const meta = fieldsOf(update['_meta']);
  const delta = fieldsOf(meta['terminal_output_delta']);
  if (!isLong(delta['data'])) return null;
  const { sessionUpdate, toolCallId } = update;
  const early = (data: string) =>
    withUpdate({ sessionUpdate, toolCallId, _meta: { terminal_output_delta: { ...delta, data } } });
  const last = (data: string) =>
    withUpdate({ ...update, _meta: { ...meta, terminal_output_delta: { ...delta, data } } });
  return { value: delta['data'], early, last };
}

function isLong(text: unknown): text is string {
  return typeof text === 'string' && text.length > TEXT_LIMIT_CHARS;
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}
