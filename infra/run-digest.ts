import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { digestLines, type TruthEvent } from '../contract/sealed-translation.ts';

/** Events digested before other work of this process gets its turn. */
const EVENTS_PER_TURN = 500;

/** The digest of a run's events and how many they are (design, invariant 6). Lets other work in between. */
export async function digestOfEvents(events: Iterable<TruthEvent>): Promise<{ digest: string; events: number }> {
  const hash = createHash('sha256');
  let count = 0;
  for (const line of digestLines(events)) {
    hash.update(line);
    if (++count % EVENTS_PER_TURN === 0) await nextTurn();
  }
  return { digest: hash.digest('hex'), events: count };
}
