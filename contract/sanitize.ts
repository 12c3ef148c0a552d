/**
 * What may not pass as text or as JSON, whoever sent it: control characters (but tab, line feed and carriage return), lone
 * surrogates, numbers and values that JSON cannot say, and names that would reach an object's prototype.
 */

/** C0, DEL and C1. */
const CONTROL = /\p{Cc}/u;
const ABUSED_CONTROL = /[^\P{Cc}\t\n\r]/u;
const EVERY_ABUSED_CONTROL = new RegExp(ABUSED_CONTROL, 'gu');
const PROTOTYPE_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/** A name that would reach an object's prototype when someone merges or assigns it. */
export function isPrototypeKey(key: string): boolean {
  return PROTOTYPE_KEYS.has(key);
}

export function hasControlCharacter(text: string): boolean {
  return CONTROL.test(text);
}

/** Text that any encoding can carry and any screen can show. */
export function isCleanText(text: string): boolean {
  return !ABUSED_CONTROL.test(text) && text.isWellFormed();
}

/**
 * The same text with what may not pass made visible: a control character becomes its picture (U+2400…), a lone surrogate
 * U+FFFD. Clean text comes back as it is; the length does not change.
 */
export function cleanText(text: string): string {
  if (isCleanText(text)) return text;
  return text.toWellFormed().replace(EVERY_ABUSED_CONTROL, picture);
}

function picture(control: string): string {
  const code = control.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? '\u2421' : '\ufffd';
}

/**
 * A sentence that is safe to show to a person: one line, no control characters, no characters that turn the direction of
 * the text around, at most `limitChars` long.
 */
export function safeMessage(text: string, limitChars: number): string {
  // Only the head is looked at: an error of megabytes costs no more than a short one.
  const head = cleanText(text.slice(0, limitChars * 2))
    .replace(/[\u202a-\u202e\u2066-\u2069]/g, '')
    .replace(/\s+/g, ' ')
    .trim();
  if (head.length <= limitChars && text.length <= limitChars * 2) return head;
  return `${cutText(head, limitChars - 1)}…`;
}

/** The first `limitChars` units of a text, no surrogate pair torn. */
export function cutText(text: string, limitChars: number): string {
  if (text.length <= limitChars) return text;
  const last = text.charCodeAt(limitChars - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? limitChars - 1 : limitChars);
}

export interface JsonBounds {
  /** Arrays and objects inside one another, the outermost counted. */
  readonly depth: number;
  /** Members and items, all levels together. */
  readonly items: number;
  readonly keyChars: number;
  readonly stringChars: number;
}

export interface JsonProblem {
  /** Says what is wrong and never quotes the value. */
  readonly reason: string;
  /** A bound was passed; otherwise the value is not JSON, or not safe text. */
  readonly isLimit: boolean;
}

/** What keeps a value from being safe, bounded JSON; null when nothing does. Never throws, whatever the value is. */
export function jsonProblem(value: unknown, bounds: JsonBounds): JsonProblem | null {
  try {
    return problemAt(value, bounds, 0, { items: 0 });
  } catch {
    return { reason: 'cannot be read: a getter or a proxy threw', isLimit: false };
  }
}

function problemAt(value: unknown, bounds: JsonBounds, depth: number, count: { items: number }): JsonProblem | null {
  switch (typeof value) {
    case 'string':
      return textProblem(value, bounds.stringChars);
    case 'boolean':
      return null;
    case 'number':
      return Number.isFinite(value) ? null : wrong('holds a number that JSON cannot say');
    case 'object':
      break;
    case 'undefined':
      return wrong('holds undefined, which is not JSON');
    case 'bigint':
    case 'function':
    case 'symbol':
      return wrong(`holds a ${typeof value}, which is not JSON`);
  }
  if (value === null) return null;
  if (depth >= bounds.depth) return over(`is nested deeper than ${String(bounds.depth)} levels`);
  const entries = Array.isArray(value) ? arrayEntries(value) : objectEntries(value);
  if (!Array.isArray(entries)) return entries;
  count.items += entries.length;
  if (count.items > bounds.items) return over(`holds more than ${String(bounds.items)} members and items`);
  for (const [key, item] of entries) {
    const problem = (key === null ? null : keyProblem(key, bounds)) ?? problemAt(item, bounds, depth + 1, count);
    if (problem !== null) return problem;
  }
  return null;
}

type Entries = (readonly [string | null, unknown])[];

function arrayEntries(value: readonly unknown[]): Entries | JsonProblem {
  if (Object.keys(value).length !== value.length) return wrong('holds an array with holes or named members');
  return value.map((item) => [null, item] as const);
}

function objectEntries(value: object): Entries | JsonProblem {
  const prototype: unknown = Object.getPrototypeOf(value);
  // A plain object of another realm (the workflow sandbox) has that realm's Object.prototype, whose own prototype is null.
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null)
    return wrong('holds an object that is not plain');
  if (Object.getOwnPropertySymbols(value).length > 0) return wrong('holds a member named by a symbol');
  return Object.entries(value);
}

function keyProblem(key: string, bounds: JsonBounds): JsonProblem | null {
  if (isPrototypeKey(key)) return wrong('holds a member whose name reaches the prototype');
  return textProblem(key, bounds.keyChars);
}

function textProblem(text: string, limitChars: number): JsonProblem | null {
  if (text.length > limitChars) return over(`holds a string over ${String(limitChars)} characters`);
  return isCleanText(text) ? null : wrong('holds a control character or a lone surrogate');
}

function wrong(reason: string): JsonProblem {
  return { reason, isLimit: false };
}

function over(reason: string): JsonProblem {
  return { reason, isLimit: true };
}
