import { previewText } from './frames.ts';
import * as limit from './lifecycle-limits.ts';
import { hashText } from './lifecycle-text-hash.ts';
import { cleanText, cutText, hasControlCharacter, isCleanText, isPrototypeKey, safeMessage } from './sanitize.ts';

/**
 * The values of other systems as lifecycle v1 may hold them: bounded, clean, and the same every time (no clock, no random
 * number). What is cut says so.
 */

const ID_KEPT_CHARS = 200;

/** An opaque id as lifecycle v1 allows it: itself, or its beginning and a hash of the whole. */
export function lifecycleId(id: string): string {
  const isFit = id !== '' && id.length <= ID_KEPT_CHARS && !id.includes('~');
  if (isFit && id.isWellFormed() && !hasControlCharacter(id)) return id;
  return `${cutText(singleLine(id), ID_KEPT_CHARS)}~${hashText(id)}`;
}

/** The id that says the same thing again: `turn` 2 and later get a mark that no id of `lifecycleId` has. */
export function idOfTurn(id: string, turn: number): string {
  return turn === 1 ? lifecycleId(id) : `${lifecycleId(id)}~${String(turn)}`;
}

/** A name; `fallback` where there is none. */
export function lifecycleName(name: string | undefined, fallback: string): string {
  return safeMessage(name ?? '', limit.NAME_LIMIT_CHARS) || fallback;
}

/** A machine code made of any text. */
export function lifecycleCode(code: string | undefined, fallback: string): string {
  const words = (code ?? '').toLowerCase().replace(/[^a-z0-9]+/g, '_');
  return (
    words
      .replace(/^[0-9_]+/, '')
      .slice(0, limit.CODE_LIMIT_CHARS)
      .replace(/_$/, '') || fallback
  );
}

export function lifecycleMessage(message: string, fallback: string): string {
  return safeMessage(message, limit.MESSAGE_LIMIT_CHARS) || fallback;
}

/** Text of several lines, cut to a limit with a mark of how much is missing. */
export function boundedText(text: string, limitChars: number): string {
  const clean = cleanText(text);
  return clean.length <= limitChars ? clean : previewText(clean, limitChars - 32);
}

/** A result as it is shown. A preview that was cut before is not cut again. */
export function displayResult(result: string): string {
  const clean = cleanText(result);
  const isCutAlready = clean.length <= limit.TOOL_RESULT_LIMIT_CHARS && /\.\.\.\[\d+ chars\]$/.test(clean);
  return isCutAlready ? clean : previewText(clean, limit.TOOL_RESULT_DISPLAY_CHARS);
}

/** Whole tokens; null for a number that is none. */
export function tokens(count: number | undefined): number | null {
  if (count === undefined) return null;
  const whole = Math.round(count);
  return whole <= Number.MAX_SAFE_INTEGER ? whole : null;
}

const LAST_SHOWN_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

export function timestamp(ms: number): string {
  return new Date(Math.min(ms, LAST_SHOWN_MS)).toISOString();
}

/** A text in deltas of legal length, no surrogate pair torn. */
export function deltasOf(text: string): string[] {
  const deltas: string[] = [];
  for (let rest = text; rest !== ''; rest = rest.slice(deltas.at(-1)?.length)) {
    deltas.push(cutText(rest, limit.DELTA_LIMIT_CHARS));
  }
  return deltas;
}

/**
 * A tool's arguments as an object: itself, cleaned and bounded; a text (the preview of what was too long) as `{preview}`,
 * anything else as `{value}`.
 */
export function argumentsOf(input: unknown): Record<string, unknown> {
  if (input === undefined || input === null) return {};
  if (typeof input === 'string') return { preview: boundedText(input, limit.PROMPT_LIMIT_CHARS) };
  const bounded = boundedJson(input, 1, { items: limit.JSON_ITEMS_LIMIT - 1 });
  const isObject = typeof bounded === 'object' && bounded !== null && !Array.isArray(bounded);
  const args = isObject ? (bounded as Record<string, unknown>) : { value: bounded };
  const text = JSON.stringify(args);
  return text.length <= limit.TOOL_ARGUMENTS_LIMIT_CHARS
    ? args
    : { preview: previewText(cleanText(text), limit.TOOL_RESULT_DISPLAY_CHARS) };
}

const CUT = '…';

function boundedJson(value: unknown, depth: number, left: { items: number }): unknown {
  if (typeof value === 'string') return boundedText(value, limit.JSON_STRING_LIMIT_CHARS);
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value === 'boolean' || value === null) return value;
  if (typeof value !== 'object') return null;
  if (depth >= limit.JSON_DEPTH_LIMIT) return CUT;
  if (Array.isArray(value)) {
    const kept = value.slice(0, left.items);
    left.items -= kept.length;
    return kept.map((item) => boundedJson(item, depth + 1, left));
  }
  const bounded: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) {
    if (left.items === 0) break;
    left.items -= 1;
    bounded[safeKey(key)] = boundedJson(member, depth + 1, left);
  }
  return bounded;
}

function safeKey(key: string): string {
  const clean = isCleanText(key) && key.length <= limit.JSON_KEY_LIMIT_CHARS ? key : cutText(cleanText(key), 200);
  return isPrototypeKey(clean) ? `${clean}_` : clean;
}

function singleLine(text: string): string {
  return cleanText(text.slice(0, ID_KEPT_CHARS * 2)).replace(/[\t\n\r~]/g, '_');
}
