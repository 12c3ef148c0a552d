import { createHash } from 'node:crypto';
import { digestLines, type TruthEvent } from '../contract/sealed-translation.ts';

/** The digest of a run's events and how many they are (design, invariant 6). */
export function digestOfEvents(events: Iterable<TruthEvent>): { digest: string; events: number } {
  const hash = createHash('sha256');
  let count = 0;
  for (const line of digestLines(events)) {
    hash.update(line);
    count += 1;
  }
  return { digest: hash.digest('hex'), events: count };
}
