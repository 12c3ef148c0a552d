const LIMIT = 500;
/** What is longer is not looked through: a text from outside may be any number of characters, and some patterns take their square. */
const SCANNED_CHARS = 4_000;
/** Keys of the known vendors, bearer tokens, and keys that the provider has masked in part. */
const KEY_SHAPES = /\b(?:sk|rk|gsk|xai)-[\w*.-]{6,}|\bBearer\s+\S+|\bAIza[\w-]{10,}|\S*\*{3,}\S*/gi;

/**
 * Text from outside as it may be stored and shown: without the given secrets and whatever looks like a key, one line,
 * bounded, well-formed.
 */
export function safeText(text: string, secrets: readonly string[]): string {
  let safe = text;
  for (const secret of secrets) if (secret.length >= 6) safe = safe.replaceAll(secret, '[secret]');
  const line = beginningOf(safe)
    .replace(KEY_SHAPES, '[secret]')
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim();
  return (line.length > LIMIT ? `${line.slice(0, LIMIT - 1)}…` : line).toWellFormed();
}

/** The beginning of a long text, up to a space: half a key would not be known for one. */
export function beginningOf(text: string): string {
  if (text.length <= SCANNED_CHARS) return text;
  const head = text.slice(0, SCANNED_CHARS);
  const end = head.lastIndexOf(' ');
  return end < 0 ? '(a long text without a space)' : head.slice(0, end);
}
