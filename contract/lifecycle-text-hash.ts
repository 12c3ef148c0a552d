/** A running 64-bit hash of text, in two halves: to recognise text again without keeping it. Not for secrets. */
export interface TextHash {
  readonly a: number;
  readonly b: number;
}

export const EMPTY_TEXT: TextHash = { a: 0xdeadbeef, b: 0x41c6ce57 };

/** The hash of the text so far and `text` after it; the same however the text was cut. */
export function extendHash({ a, b }: TextHash, text: string): TextHash {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    a = Math.imul(a ^ code, 2_654_435_761);
    b = Math.imul(b ^ code, 1_597_334_677);
  }
  return { a: a >>> 0, b: b >>> 0 };
}

export function isSameText(one: TextHash, other: TextHash): boolean {
  return one.a === other.a && one.b === other.b;
}

/** Sixteen hex digits. */
export function hashText(text: string): string {
  const { a, b } = extendHash(EMPTY_TEXT, text);
  return [a, b].map((half) => half.toString(16).padStart(8, '0')).join('');
}
