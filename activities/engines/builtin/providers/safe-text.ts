const LIMIT = 500;
/** Keys of the known vendors, bearer tokens, and keys that the provider has masked in part. */
const KEY_SHAPES = /\b(?:sk|rk|gsk|xai)-[\w*.-]{6,}|\bBearer\s+\S+|\bAIza[\w-]{10,}|\S*\*{3,}\S*/gi;

/**
 * Text from outside as it may be stored and shown: without the given secrets and whatever looks like a key, one line,
 * bounded, well-formed.
 */
export function safeText(text: string, secrets: readonly string[]): string {
  let safe = text;
  for (const secret of secrets) if (secret.length >= 6) safe = safe.replaceAll(secret, '[secret]');
  const line = safe
    .replace(KEY_SHAPES, '[secret]')
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim();
  return (line.length > LIMIT ? `${line.slice(0, LIMIT - 1)}…` : line).toWellFormed();
}
