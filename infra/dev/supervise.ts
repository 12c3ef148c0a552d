import { setTimeout as sleep } from 'node:timers/promises';
import type { DetachedProcess } from './detached-process.ts';

const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 10_000;
/** After this long without a fault the next one is met at once again. */
const SOUND_AFTER_MS = 60_000;

export type Supervised = { stop(graceMs: number): Promise<void> };

/**
 * Starts a process and starts it again whenever it ends by itself, waiting longer each time it does not last.
 *
 * **Contract:** rejects if the first start fails. After `stop()` has resolved no process of it runs.
 */
export async function supervise(
  name: string,
  start: (signal: AbortSignal) => Promise<DetachedProcess>,
  { say, signal }: { say: (line: string) => void; signal: AbortSignal },
): Promise<Supervised> {
  const stopping = new AbortController();
  let current = await start(signal);
  const watching = watch();
  return { stop };

  async function watch(): Promise<void> {
    let delayMs = FIRST_DELAY_MS;
    for (;;) {
      const startedAt = Date.now();
      const end = await current.exited;
      if (stopping.signal.aborted) return;
      if (Date.now() - startedAt > SOUND_AFTER_MS) delayMs = FIRST_DELAY_MS;
      say(`The ${name} stopped unexpectedly (${end}): starting it again.`);
      for (let isRunning = false; !isRunning; delayMs = Math.min(delayMs * 2, LONGEST_DELAY_MS)) {
        await sleep(delayMs, undefined, { signal: stopping.signal }).catch(() => {});
        if (stopping.signal.aborted) return;
        isRunning = await startAgain();
      }
      say(`The ${name} runs again.`);
    }
  }

  async function startAgain(): Promise<boolean> {
    try {
      current = await start(stopping.signal);
      return true;
    } catch (error) {
      if (!stopping.signal.aborted) say(`The ${name} does not start: ${(error as Error).message}`);
      return false;
    }
  }

  async function stop(graceMs: number): Promise<void> {
    stopping.abort();
    await current.stop(graceMs);
    await watching;
    await current.stop(graceMs); // one that was just being started
  }
}
