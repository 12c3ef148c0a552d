import { crashPoint } from '../infra/crash-point.ts';
import { dispatchCommand } from '../infra/dispatcher.ts';
import { markWoken, type CommandRow } from '../infra/postgres/command.ts';
import type { InterruptRow } from '../infra/postgres/interrupt.ts';
import { wakeRunWorkflow } from '../infra/temporal/run-workflow.ts';
import type { Gateway } from './gateway.ts';

type Told = Pick<Gateway, 'pool' | 'temporal' | 'log'>;

/** After the commit, and not waited for: what fails here is done by a dispatcher, from the command's row. */
export function tellTemporal(gateway: Told, runId: string, kind: CommandRow['kind']): void {
  crashPoint(`${kind}.committed`);
  dispatchCommand(gateway, { run_id: runId, kind }).catch((error: unknown) => {
    gateway.log.warn({ err: error, runId, kind }, 'Temporal not told; a dispatcher will');
  });
}

/** The same for an answer to an interrupt. */
export function wakeRun({ pool, temporal, log }: Told, interrupt: InterruptRow): void {
  const { run_id: runId, interrupt_id: interruptId } = interrupt;
  crashPoint('decision.committed');
  wakeRunWorkflow(temporal, runId)
    .then(() => markWoken(pool, interruptId))
    .catch((error: unknown) => {
      log.warn({ err: error, runId, interruptId }, 'run not woken; a dispatcher will');
    });
}
