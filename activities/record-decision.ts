import { PLATFORM } from '../contract/frames.ts';
import { Decision, DECISION_FORMS } from '../contract/decision.ts';
import { TidemarkError } from '../contract/errors.ts';
import { InterruptId } from '../contract/ids.ts';
import { saysNothing } from '../contract/translation.ts';
import { crashPoint } from '../infra/crash-point.ts';
import { findInterrupt, interruptNotFound, resolveInterrupt } from '../infra/postgres/interrupt.ts';
import { appendToLane } from '../infra/postgres/lane.ts';
import { inTransaction } from '../infra/postgres/transaction.ts';
import type { Dependencies } from './dependencies.ts';

/** The payload of the signal `resolveInterrupt`: the interrupt's id beside the decision's own fields. */
export type SignalledAnswer = unknown;

/**
 * Records an answer that came as a Temporal signal: the same compare-and-set that REST makes (design §3.5).
 *
 * **Contract:** an answer that cannot be taken changes nothing and is said on the stream as a warning that tells how to answer;
 * the run goes on waiting.
 */
export function createRecordDecision({ pool, log }: Dependencies) {
  return async function recordDecision({ runId, answer }: { runId: string; answer: SignalledAnswer }): Promise<void> {
    try {
      const { interruptId, decision } = parseAnswer(answer);
      const interrupt = await findInterrupt(pool, interruptId);
      if (interrupt?.run_id !== runId) throw interruptNotFound();
      await resolveInterrupt(pool, { interruptId, decision, actor: 'temporal-signal' });
      crashPoint('decision.committed');
    } catch (error) {
      if (!(error instanceof TidemarkError)) throw error;
      log.warn({ runId, code: error.code }, 'signalled answer refused');
      await warn(runId, `signal resolveInterrupt refused: ${error.message}. ${error.remedy}`, error.code);
    }
  };

  async function warn(runId: string, message: string, code: string): Promise<void> {
    const frames = [{ at: Date.now(), frame: { type: 'run.warning', code, message } }];
    await inTransaction(pool, async (client) => {
      await appendToLane(client, { runId, provider: PLATFORM, writer: null, frames, translate: saysNothing });
    });
  }
}

function parseAnswer(answer: unknown): { interruptId: string; decision: Decision } {
  const { interrupt_id: id, ...rest } =
    typeof answer === 'object' && answer !== null ? (answer as Record<string, unknown>) : {};
  const interruptId = InterruptId.safeParse(id);
  const decision = Decision.safeParse(rest);
  if (interruptId.success && decision.success) return { interruptId: interruptId.data, decision: decision.data };
  throw new TidemarkError(
    'invalid_request',
    'the payload is no answer',
    `Send {"interrupt_id":"int_…"} with ${DECISION_FORMS}.`,
  );
}
