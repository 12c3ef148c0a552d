/** JSON without the characters that some readers take for the end of a line though SSE does not (NEL, U+2028, U+2029). */
export function oneLineJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[\u0085\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
