import { textOf } from '../contract/agent-messages.ts';
import { BUILTIN_ENGINE } from '../contract/engines.ts';
import type { ErrorCode } from '../contract/errors.ts';
import type { Ending, Settled } from '../contract/run-plan.ts';
import { crashPoint } from '../infra/crash-point.ts';
import { messagesOfRun } from '../infra/postgres/message.ts';
import { laneLength } from '../infra/postgres/outbox.ts';
import { readRun, type RunRow } from '../infra/postgres/run.ts';
import { lastStepError } from '../infra/postgres/step.ts';
import { settleRun as settle, type Settlement } from '../infra/postgres/turn.ts';
import { agentOf } from './agent-of.ts';
import { LoopEvents } from './engines/builtin/extensions/loop-events.ts';
import type { Dependencies } from './dependencies.ts';

/** What is said where no step left its own words: the step limit, or a worker that is gone with what it knew. */
const FALLBACK = 'the run could not be carried on; the worker’s log has the details under this run id';
const SENTENCES: Partial<Record<ErrorCode, string>> = {
  step_limit: 'the run reached its limit of steps (settings.max_steps)',
  worker_lost: 'the worker that did this step was lost, and so were the attempts after it',
};

/** Ends a run: last frame, seal, final status, intent and hand-over of the turn, in one transaction. Safe to repeat. */
export function createSettleRun({ pool, log, extensions }: Dependencies) {
  return async function settleRun({ runId, ending }: { runId: string; ending: Ending }): Promise<Settled> {
    const run = await readRun(pool, runId);
    const { run: settled, nextRunId } = await settle(pool, runId, await settlementOf(run, ending));
    crashPoint('settle.committed');
    log.info({ runId, status: settled.status, stopReason: settled.stop_reason }, 'run settled');
    if (settled.status !== 'completed' && settled.status !== 'failed') throw new Error(`run ${runId} is not settled`);
    const stopReason = settled.stop_reason ?? '';
    if (run.settled_at === null && run.engine === BUILTIN_ENGINE) await sayEnded(settled);
    return { status: settled.status, stopReason, nextRunId, frames: await laneLength(pool, runId) };
  };

  async function sayEnded(run: RunRow): Promise<void> {
    if (!extensions.hears('agent-turn-complete') && !extensions.hears('agent-shutdown')) return;
    const messages = await messagesOfRun(pool, run.run_id);
    const last = messages.findLast((message) => message.role === 'assistant');
    const error = run.error === null ? null : run.error.message;
    new LoopEvents(extensions, agentOf(run)).ended({
      status: run.status === 'completed' ? 'ok' : run.stop_reason === 'cancelled' ? 'cancelled' : 'error',
      messageCount: messages.length,
      result: last === undefined ? null : textOf(last.content),
      error,
    });
  }

  async function settlementOf(run: RunRow, ending: Ending): Promise<Settlement> {
    if (!('code' in ending)) return ending;
    const { code } = ending;
    const { run_id: runId, cancel_requested_at: cancelledAt } = run;
    // who was to stop it died first, or could not say so to the database: Temporal does not repeat an activity that was cancelled, and
    // nothing of the run works any more, as was asked
    const isUnheard = code === 'worker_lost' || code === 'unavailable';
    if (isUnheard && cancelledAt !== null) return { status: 'failed', stopReason: 'cancelled' };
    const noted = await lastStepError(pool, runId);
    const message = noted !== null && noted.code === code ? noted.message : (SENTENCES[code] ?? FALLBACK);
    return { status: 'failed', stopReason: 'error', error: { code, message } };
  }
}
