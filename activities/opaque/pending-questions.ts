import { pendingInterrupts } from '../../infra/postgres/ask.ts';
import { expireInterrupts } from '../../infra/postgres/interrupt.ts';
import type { Dependencies } from '../dependencies.ts';

/** What a run waits for: ids of its open interrupts, and the milliseconds until the next of them expires. */
export function createPendingQuestions({ pool }: Pick<Dependencies, 'pool'>) {
  return async function pendingQuestions(
    runId: string,
  ): Promise<{ readonly pending: readonly string[]; readonly expiresInMs: number | null }> {
    const expiresInMs = await expireInterrupts(pool, runId);
    const pending = await pendingInterrupts(pool, runId);
    return { pending, expiresInMs: pending.length === 0 ? null : expiresInMs };
  };
}
