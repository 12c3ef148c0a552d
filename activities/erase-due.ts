import { advanceErasure } from '../infra/postgres/erase-thread.ts';
import { finishErasure, leaseErasures, postponeErasure } from '../infra/postgres/erasure.ts';
import type { Dependencies } from './dependencies.ts';
import { hostedSessionsRoot } from './hosted-sessions.ts';
import { removeThreadFolder } from './remove-thread-folder.ts';

const BATCH = 10;

/**
 * Carries erasures on that a gateway has recorded: waits for the runs to end, removes what rows are left, then the workspace
 * and the session files, which may be on the workers' machine alone.
 *
 * **Contract:** leases, so any number of workers share the work; what fails is tried again, later each time, and its reason is
 * in the erasure's row.
 */
export function createEraseDue({
  config,
  pool,
  log,
  sessionMirror,
}: Pick<Dependencies, 'config' | 'pool' | 'log' | 'sessionMirror'>) {
  return async function eraseDue(stopped: AbortSignal): Promise<void> {
    for (const threadId of await leaseErasures(pool, BATCH)) {
      // the lease brings it up again
      if (stopped.aborted) return;
      try {
        await erase(threadId);
      } catch (error) {
        log.warn({ err: error, threadId }, 'thread not erased yet; it is tried again');
        await postponeErasure(pool, threadId, String(error));
      }
    }
  };

  async function erase(threadId: string): Promise<void> {
    if ((await advanceErasure(pool, threadId)) === 'waiting') {
      await postponeErasure(pool, threadId, null);
      return;
    }
    await removeThreadFolder(config.workspaceRoot, threadId);
    await removeThreadFolder(hostedSessionsRoot(config), threadId);
    await sessionMirror?.remove(threadId);
    await finishErasure(pool, threadId);
    log.info({ threadId }, 'thread erased');
  }
}
