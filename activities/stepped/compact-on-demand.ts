import { hash } from 'node:crypto';
import type { ModelTurn } from '../../contract/run-plan.ts';
import { crashPoint } from '../../infra/crash-point.ts';
import { readConversation } from '../../infra/postgres/conversation.ts';
import { endStep } from '../../infra/postgres/step.ts';
import { compactConversation, keepTokensOf, sayCompactionAgain, warnOfSkipped } from './compact-conversation.ts';
import type { Dependencies } from '../dependencies.ts';
import { endCancelled, failStep, failureOf, type ModelStep } from './model-step.ts';

const TOO_LITTLE = 'there is not enough context';

/**
 * The one step of a run that only compacts its thread's conversation (`settings.compact`).
 *
 * **Contract:** the run completes where there is nothing to compact, with a warning that says so; it fails where its model cannot be
 * asked. Nothing of it is in the conversation but the summary.
 */
export async function compactOnDemand(deps: Dependencies, step: ModelStep): Promise<ModelTurn> {
  const { run, lane, writer, window } = step;
  if (await sayCompactionAgain(deps, step)) return await end();
  const done = await compactConversation(deps, step, {
    entries: await readConversation(deps.pool, run.run_id),
    trigger: 'manual',
    guidance: run.settings.compact?.guidance ?? null,
    keepTokens: keepTokensOf(window),
    besidesTokens: 0,
  });
  switch (done.outcome) {
    case 'compacted':
      return await end();
    case 'too-little':
      await warnOfSkipped(deps, step, TOO_LITTLE);
      return await end();
    case 'no-summary':
      await warnOfSkipped(deps, step, done.reason);
      return await end();
    case 'failed':
      return await failStep(deps, step, failureOf(done.answer));
    case 'cancelled':
      return await endCancelled(deps.pool, step);
  }

  async function end(): Promise<ModelTurn> {
    await writer.drain();
    const turn: ModelTurn = { outcome: 'final', stopReason: 'stop' };
    await endStep(deps.pool, {
      ...lane,
      status: 'completed',
      frames: [],
      messages: [],
      result: JSON.stringify(turn),
      contentHash: hash('sha256', ''),
    });
    crashPoint('model-step.committed');
    return turn;
  }
}
