import { parentPort, workerData } from 'node:worker_threads';
import { searchText, type TextSearch } from './text-search.ts';
import type { SearchMessage } from './search-thread.ts';

/** The thread of one search: tells each match when it is found, and the end. */
const say = (message: SearchMessage): void => parentPort?.postMessage(message, []);
try {
  const search = searchText(workerData as TextSearch);
  let next = search.next();
  for (; next.done !== true; next = search.next()) say({ type: 'match', match: next.value });
  say({ type: 'end', end: next.value });
} catch (error) {
  say({ type: 'fault', reason: error instanceof SyntaxError ? error.message : 'the search failed' });
}
