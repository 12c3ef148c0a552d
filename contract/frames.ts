/** The provider tag of what the platform itself says: the input, an answer to an interrupt, a step's bookkeeping. */
export const PLATFORM = 'tidemark';

/** One native event as its engine said it: `type` and whatever else. */
export interface NativeFrame {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** A frame and when it arrived here, milliseconds since the epoch. That time becomes the event's `ts`. */
export interface StampedFrame {
  readonly at: number;
  readonly frame: NativeFrame;
}

/**
 * Adjacent frames of one attempt at one step that were stored together. The segment is part of the source: text deltas
 * are joined inside it and never across, so translating again joins them alike.
 */
export interface FrameSegment {
  readonly firstSeq: number;
  readonly provider: string;
  /** The step that the frames belong to; null for what is said about the run as a whole. */
  readonly stepIndex: number | null;
  readonly attempt: number;
  readonly frames: readonly StampedFrame[];
}

/** A frame's stored size, at most: 32 KiB of UTF-8 (source facts A.6). */
export const FRAME_LIMIT_BYTES = 32 * 1024;

/**
 * Keeps a frame inside the limit: one that is over is replaced by its type and what was cut.
 *
 * **Contract:** the result serialises to at most `FRAME_LIMIT_BYTES`, and says `_truncated`, `_originalBytes` and
 * `_reason` when it is not the original.
 */
export function boundFrame(frame: NativeFrame): NativeFrame {
  const text = JSON.stringify(frame);
  if (text.length * 3 <= FRAME_LIMIT_BYTES) return frame;
  const bytes = utf8Bytes(text);
  if (bytes <= FRAME_LIMIT_BYTES) return frame;
  return {
    type: previewText(frame.type, 200),
    _truncated: true,
    _originalBytes: bytes,
    _reason: `frame is over ${String(FRAME_LIMIT_BYTES)} bytes`,
  };
}

/** The UTF-8 length of a string in bytes; a lone surrogate counts as the three bytes of U+FFFD. */
export function utf8Bytes(text: string): number {
  let bytes = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x80) bytes += 1;
    else if (code < 0x800) bytes += 2;
    else if (code >= 0xd800 && code < 0xdc00 && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00) {
      bytes += 4;
      i++;
    } else bytes += 3;
  }
  return bytes;
}

/** The first `limit` UTF-16 units of a text, never cut inside a surrogate pair, with a mark of how much is missing. */
export function previewText(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const last = text.charCodeAt(limit - 1);
  const end = last >= 0xd800 && last < 0xdc00 ? limit - 1 : limit;
  return `${text.slice(0, end)}...[${String(text.length - end)} chars]`;
}
