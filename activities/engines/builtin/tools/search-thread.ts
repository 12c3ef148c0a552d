import { Worker } from 'node:worker_threads';
import type { SearchEnd, TextMatch, TextSearch } from './text-search.ts';
import { ToolFault } from './tool.ts';

/** What the thread says. */
export type SearchMessage =
  | { readonly type: 'match'; readonly match: TextMatch }
  | { readonly type: 'end'; readonly end: SearchEnd }
  | { readonly type: 'fault'; readonly reason: string };

export interface SearchResult {
  readonly matches: readonly TextMatch[];
  readonly end: SearchEnd | 'late';
}

const THREAD = new URL('./search-worker-main.ts', import.meta.url);
const MEMORY_MB = 256;

/**
 * Searches in a thread of its own, so that no pattern can hold up this one.
 *
 * **Contract:** the thread is gone when this settles. One that takes too long is ended, and what it had found is the result. On
 * abort it is ended and the reason is thrown.
 *
 * @throws ToolFault for a pattern that cannot be used.
 */
export async function searchInThread(
  search: TextSearch,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<SearchResult> {
  signal.throwIfAborted();
  const matches: TextMatch[] = [];
  const resourceLimits = { maxOldGenerationSizeMb: MEMORY_MB };
  const thread = new Worker(THREAD, { workerData: search, execArgv: [], env: {}, resourceLimits });
  const stop = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  let onStop = (): void => undefined;
  try {
    const end = await new Promise<SearchEnd | 'late'>((resolve, reject) => {
      onStop = () => resolve('late');
      stop.addEventListener('abort', onStop, { once: true });
      thread.on('error', () => reject(new ToolFault('the search failed; use a simpler pattern, or search less')));
      thread.on('message', (message: SearchMessage) => {
        if (message.type === 'match') matches.push(message.match);
        else if (message.type === 'end') resolve(message.end);
        else reject(new ToolFault(`the pattern cannot be used: ${message.reason}`));
      });
    });
    signal.throwIfAborted();
    return { matches, end };
  } finally {
    stop.removeEventListener('abort', onStop);
    await thread.terminate();
  }
}
