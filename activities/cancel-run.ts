import { dispatchCommand } from '../infra/dispatcher.ts';
import { requestCancel } from '../infra/postgres/command.ts';
import type { Dependencies } from './dependencies.ts';

/** Asks a run to stop, as a client's `POST /v1/runs/{id}/cancel` does. */
export async function cancelRun({ pool, temporal, log }: Dependencies, runId: string): Promise<void> {
  const { outcome } = await requestCancel(pool, runId);
  if (outcome === 'settled') return;
  await dispatchCommand({ pool, temporal }, { run_id: runId, kind: 'run.cancel' }).catch((error: unknown) => {
    log.warn({ err: error, runId }, 'Temporal not told; a dispatcher will');
  });
}
