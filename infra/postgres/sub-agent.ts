import type pg from 'pg';
import type { UserMessage } from '../../contract/agent-messages.ts';
import { PLATFORM, type NativeFrame, type StampedFrame } from '../../contract/frames.ts';
import { stepsOf, SUB_AGENTS_PER_RUN } from '../../contract/sub-agent.ts';
import { saysNothing, type TranslateFrame } from '../../contract/translation.ts';
import { TidemarkError } from '../../contract/errors.ts';
import { interruptsOfRun, withdrawInterrupt } from './interrupt.ts';
import { appendToLanes } from './lane.ts';
import { insertMessages } from './message.ts';
import { lockThreadOfRun, readRun } from './run.ts';
import { findStep } from './step.ts';
import { inTransaction, type Queryable } from './transaction.ts';

/** What a sub-agent works with. */
export interface SubAgentRow {
  readonly run_id: string;
  /** The step of the call that delegated to it. */
  readonly step_index: number;
  readonly name: string | null;
  /** Null: the run's. */
  readonly model: string | null;
  /** Null: all that a sub-agent may have. */
  readonly tools: readonly string[] | null;
}

export interface NewSubAgent {
  readonly runId: string;
  readonly delegatingStep: number;
  readonly name: string | null;
  readonly model: string | null;
  readonly tools: readonly string[] | null;
  readonly task: UserMessage;
  /** The engine's words for its beginning. */
  readonly frames: readonly NativeFrame[];
  readonly provider: string;
  readonly translate: TranslateFrame;
}

/** The one attempt at a delegating step: its sub-agent's steps are repeated, it is not. */
export const ONLY_ATTEMPT = 1;

/**
 * Begins a sub-agent: its row, its task as the first message of its conversation, the delegating step, and the frames that tell of
 * it, in one transaction.
 *
 * **Contract:** safe to repeat: begun once, and `opened` again as long as its step is open. `full`: the run has had its share, and
 * nothing is stored. A run that is being stopped begins none.
 */
export async function openSubAgent(
  pool: pg.Pool,
  agent: NewSubAgent,
): Promise<'opened' | 'done' | 'cancelled' | 'full'> {
  const { runId, delegatingStep } = agent;
  return await inTransaction(pool, async (client) => {
    await lockThreadOfRun(client, runId);
    const run = await readRun(client, runId);
    const step = await findStep(client, runId, delegatingStep);
    if (step !== null && step.status !== 'running') return step.status === 'cancelled' ? 'cancelled' : 'done';
    if (run.cancel_requested_at !== null || run.settled_at !== null) return 'cancelled';
    if (step !== null) return 'opened';
    if (!(await insertWithinBounds(client, agent))) return 'full';
    await insertMessages(client, runId, stepsOf(delegatingStep).first, [agent.task]);
    const writer = { stepIndex: delegatingStep, attempt: ONLY_ATTEMPT };
    const begun: NativeFrame = { type: 'step.started', step: delegatingStep, kind: 'tool', attempt: ONLY_ATTEMPT };
    const outcomes = await appendToLanes(client, [
      {
        runId,
        provider: PLATFORM,
        writer: null,
        translate: saysNothing,
        frames: stamped([begun]),
        also: { openStep: writer },
      },
      { runId, provider: agent.provider, writer, translate: agent.translate, frames: stamped(agent.frames) },
    ]);
    for (const outcome of outcomes) if (!outcome.ok) throw outcome.error;
    return 'opened';
  });
}

function stamped(frames: readonly NativeFrame[]): StampedFrame[] {
  const at = Date.now();
  return frames.map((frame) => ({ at, frame }));
}

async function insertWithinBounds(client: Queryable, agent: NewSubAgent): Promise<boolean> {
  const { runId, delegatingStep, name, model, tools } = agent;
  const { rowCount } = await client.query({
    name: 'sub-agent-insert',
    text: `with begun as (
             insert into sub_agent (run_id, step_index, name, model, tools)
             select $1, $2, $3, $4, $5
              where (select count(*) from sub_agent where run_id = $1) < $6
             returning run_id, step_index
           )
           insert into step (run_id, step_index, kind, label, attempt, status)
           select run_id, step_index, 'tool', 'delegate', $7, 'running' from begun`,
    values: [
      runId,
      delegatingStep,
      name,
      model,
      tools === null ? null : JSON.stringify(tools),
      SUB_AGENTS_PER_RUN,
      ONLY_ATTEMPT,
    ],
  });
  return rowCount === 1;
}

/**
 * Gives up what a sub-agent that failed has left open: nobody is asked any more, and nothing that still works for it may write.
 * Safe to repeat.
 */
export async function abandonSubAgent(pool: pg.Pool, runId: string, delegatingStep: number): Promise<void> {
  const { first, last } = stepsOf(delegatingStep);
  for (const { interrupt_id: id, status, step_index: step } of await interruptsOfRun(pool, runId)) {
    if (status === 'pending' && step >= first && step <= last) await withdrawInterrupt(pool, id);
  }
  await inTransaction(pool, async (client) => {
    await lockThreadOfRun(client, runId);
    const { rows } = await client.query<{ step_index: number }>({
      name: 'sub-agent-close-steps',
      text: `update step set status = 'cancelled', ended_at = now()
              where run_id = $1 and step_index between $2 and $3 and status = 'running'
          returning step_index`,
      values: [runId, first, last],
    });
    const lane = { runId, provider: PLATFORM, writer: null, translate: saysNothing };
    const outcomes = await appendToLanes(client, [
      ...rows.map(({ step_index: step }) => ({
        ...lane,
        frames: stamped([{ type: 'step.ended', step, status: 'cancelled' }]),
        also: { closeStep: step },
      })),
      { ...lane, frames: stamped([{ type: 'steps.abandoned', first, last }]) },
    ]);
    for (const outcome of outcomes) if (!outcome.ok) throw outcome.error;
  });
}

/**
 * A sub-agent that must be there: its workflow is started behind the commit that begins it.
 *
 * @throws TidemarkError `run_not_found`: its thread was erased meanwhile.
 */
export async function readSubAgent(db: Queryable, runId: string, delegatingStep: number): Promise<SubAgentRow> {
  const { rows } = await db.query<SubAgentRow>({
    name: 'sub-agent-find',
    text: 'select * from sub_agent where run_id = $1 and step_index = $2',
    values: [runId, delegatingStep],
  });
  if (rows[0] !== undefined) return rows[0];
  throw new TidemarkError(
    'run_not_found',
    `run ${runId} has no sub-agent of step ${String(delegatingStep)}`,
    'Its thread was erased, or the id is of another database.',
  );
}
