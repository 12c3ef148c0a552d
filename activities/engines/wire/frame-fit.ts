import { FRAME_LIMIT_BYTES, previewText, utf8Bytes } from '../../../contract/frames.ts';
import type { WireFrame } from './wire-frame.ts';

/** The longest text that a frame shows. */
export const TEXT_LIMIT_CHARS = 4_000;

/** Shown first as whole as the first says; where that is still too large, the next. */
const MEASURES = [
  { chars: TEXT_LIMIT_CHARS, items: Infinity },
  { chars: 1_000, items: 400 },
  { chars: 200, items: 100 },
  { chars: 80, items: 20 },
  { chars: 40, items: 5 },
] as const;
const DEPTH_LIMIT = 40;

/**
 * A frame that the lane takes as it is: its long texts are previews, and of very long lists only the beginning is there. Where
 * lists were cut `_shortened` says so.
 */
export function fitted(frame: WireFrame): WireFrame {
  for (const measure of MEASURES) {
    const cut = { lists: false };
    const fit = shortened(frame, measure, { depth: 0, cut }) as WireFrame;
    if (utf8Bytes(JSON.stringify(fit)) > FRAME_LIMIT_BYTES - 64) continue;
    return cut.lists ? { ...fit, _shortened: true } : fit;
  }
  const { type, dir, id } = frame;
  return { type: previewText(type, 200), dir, ...(id === undefined ? {} : { id }), _shortened: true };
}

/** A text in pieces that frames can hold, never cut inside a surrogate pair; at least one. */
export function piecesOf(text: string): string[] {
  const pieces: string[] = [];
  let start = 0;
  while (text.length - start > TEXT_LIMIT_CHARS) {
    const last = text.charCodeAt(start + TEXT_LIMIT_CHARS - 1);
    const end = start + TEXT_LIMIT_CHARS - (last >= 0xd800 && last < 0xdc00 ? 1 : 0);
    pieces.push(text.slice(start, end));
    start = end;
  }
  return [...pieces, text.slice(start)];
}

interface Place {
  readonly depth: number;
  readonly cut: { lists: boolean };
}

function shortened(value: unknown, measure: { chars: number; items: number }, place: Place): unknown {
  if (typeof value === 'string') return previewText(value, measure.chars);
  if (typeof value !== 'object' || value === null) return value;
  const below: Place = { ...place, depth: place.depth + 1 };
  if (below.depth > DEPTH_LIMIT) {
    place.cut.lists = true;
    return null;
  }
  if (Array.isArray(value)) {
    if (value.length > measure.items) place.cut.lists = true;
    return value.slice(0, measure.items).map((item) => shortened(item, measure, below));
  }
  const entries = Object.entries(value);
  // the fields of the protocol are few; what has hundreds is a table
  if (entries.length > measure.items * 4) place.cut.lists = true;
  const shown = entries.slice(0, measure.items * 4);
  return Object.fromEntries(shown.map(([key, item]) => [previewText(key, 200), shortened(item, measure, below)]));
}
