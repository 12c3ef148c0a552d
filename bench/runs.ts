import type { StampedFrame } from '../contract/frames.ts';
import { translateBuiltinFrame } from '../activities/engines/builtin/translate.ts';
import { acceptRun } from '../infra/postgres/accept-run.ts';
import { markDispatched } from '../infra/postgres/command.ts';
import type { LaneAppend, StepWriter } from '../infra/postgres/lane-append.ts';
import { appendToLanes } from '../infra/postgres/lane.ts';
import type { Pool } from '../infra/postgres/pool.ts';
import { endStep, openStep } from '../infra/postgres/step.ts';
import { inTransaction } from '../infra/postgres/transaction.ts';
import { settleRun, takeTurn } from '../infra/postgres/turn.ts';

/** A run in the middle of its first model call, and how its frames are stored. */
export interface OpenRun {
  readonly threadId: string;
  readonly lane: {
    readonly runId: string;
    readonly provider: string;
    readonly writer: StepWriter;
    readonly translate: LaneAppend['translate'];
  };
}

const FRAMES_A_TRANSACTION = 2_000;
const TEXT = 'a few words of an answer, as a model says them ';

/** A run that no workflow drives: accepted, given the turn, its model step open. */
export async function openRun(pool: Pool): Promise<OpenRun> {
  const { run } = await acceptRun(pool, {
    tenantId: 'default',
    threadId: null,
    input: 'bench',
    engine: 'builtin',
    model: 'scripted/text',
    parentRunId: null,
    multitask: 'enqueue',
    settings: {},
    metadata: {},
    idempotencyKey: null,
    fingerprint: 'bench',
  });
  const { run_id: runId, thread_id: threadId } = run;
  await markDispatched(pool, runId, 'run.create');
  await takeTurn(pool, runId);
  const opened = await openStep(pool, { runId, stepIndex: 0, kind: 'model', label: 'bench' });
  if (opened.state !== 'opened') throw new Error(`the step of a new run is ${opened.state}`);
  return { threadId, lane: { runId, provider: 'builtin', writer: opened.writer, translate: translateBuiltinFrame } };
}

export async function openRuns(pool: Pool, count: number): Promise<OpenRun[]> {
  const runs: OpenRun[] = [];
  for (let i = 0; i < count; i++) runs.push(await openRun(pool));
  return runs;
}

/** The n-th frame of a model's stream. Neighbours belong to two texts, so that each gives an event of its own. */
export function textFrame(n: number): StampedFrame['frame'] {
  return { type: n % 2 === 0 ? 'text-delta' : 'thinking-delta', contentIndex: n % 2, delta: `${TEXT}${String(n)} ` };
}

/** Appends frames to an open run, so many a stored segment; many segments a transaction, since only the rows matter. */
export async function fillLane(
  pool: Pool,
  run: OpenRun,
  { frames, framesASegment, joins = false }: { frames: number; framesASegment: number; joins?: boolean },
): Promise<void> {
  for (let from = 0; from < frames; from += FRAMES_A_TRANSACTION) {
    const appends: LaneAppend[] = [];
    const end = Math.min(frames, from + FRAMES_A_TRANSACTION);
    for (let at = from; at < end; at += framesASegment) {
      const ordinals = Array.from({ length: Math.min(framesASegment, end - at) }, (_, i) => at + i);
      appends.push({ ...run.lane, frames: ordinals.map((n) => stamped(n, textFrame(joins ? 0 : n))) });
    }
    const outcomes = await inTransaction(pool, (client) => appendToLanes(client, appends));
    for (const outcome of outcomes) if (!outcome.ok) throw outcome.error;
  }
}

/** Ends the step and settles the run: sealed, with its canonicalization pending. */
export async function settle(pool: Pool, { lane }: OpenRun): Promise<void> {
  const frames = [{ at: Date.now(), frame: { type: 'llm-end', stopReason: 'stop', usage: { input: 1, output: 1 } } }];
  const end = { messages: [], result: '{"outcome":"final","stopReason":"stop"}', contentHash: 'bench' };
  await endStep(pool, { ...lane, ...end, status: 'completed', frames });
  await settleRun(pool, lane.runId, { status: 'completed', stopReason: 'stop' });
}

function stamped(n: number, frame: StampedFrame['frame']): StampedFrame {
  return { at: 1_800_000_000_000 + n, frame };
}
