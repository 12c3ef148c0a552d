/** So much of a window's beginning is looked for in the one before it. */
const ANCHOR_CHARS = 200;
/** Stands where output went by between two windows. */
const GAP = '[…]\n';

/**
 * What is new in a tool's output, of which pi gives all so far each time, and of a long one only the end.
 *
 * **Contract:** the news of all windows together are the output, each part once; where a part was in no window, a mark stands for it.
 */
export function appendedOutput(before: string, now: string): string {
  if (now.startsWith(before)) return now.slice(before.length);
  for (const at of placesOf(now.slice(0, ANCHOR_CHARS), before)) {
    if (now.startsWith(before.slice(at))) return now.slice(before.length - at);
  }
  return `${GAP}${now}`;
}

function* placesOf(part: string, text: string): Generator<number> {
  if (part === '') return;
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + 1)) yield at;
}
