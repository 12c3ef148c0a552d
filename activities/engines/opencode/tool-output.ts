/** So much of what was shown last is looked for where the beginning of an output was left out. */
const OVERLAP_CHARS = 200;
const GAP = '\n…\n';

/** What is new of an output that is told as a whole each time; the engine leaves the beginning of a long one out. */
export function newOutput(before: string, now: string): string {
  if (now.startsWith(before)) return now.slice(before.length);
  const last = before.slice(-OVERLAP_CHARS);
  const at = now.lastIndexOf(last);
  return at >= 0 ? now.slice(at + last.length) : `${GAP}${now}`;
}
