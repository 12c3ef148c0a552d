import { hash } from 'node:crypto';
import type pg from 'pg';
import { canonicalJson } from '../../contract/canonical-json.ts';
import { BUILTIN_ENGINE, BUILTIN_PROTOCOL, ENGINE_CAPABILITIES } from '../../contract/engines.ts';
import { TidemarkError } from '../../contract/errors.ts';
import { PLATFORM } from '../../contract/frames.ts';
import { inputFrame, type PlatformFrame } from '../../contract/platform-frames.ts';
import { SESSION_PROVIDER, translateSessionFrame } from '../../contract/session-frames.ts';
import { inputTextOf, type SessionStep, type SessionTurn } from '../../contract/session-turns.ts';
import { newId } from '../ids.ts';
import { createThread, earlierCommand, lockThread } from './accept-run.ts';
import { commitHead, openStanding } from './harness-session.ts';
import { inBatches, insertImportedRuns, insertImportedSteps, type ImportedRun } from './imported-rows.ts';
import type { LaneAppend } from './lane-append.ts';
import { appendToLanes } from './lane.ts';
import { latestRun, readRun } from './run.ts';
import { inTransaction } from './transaction.ts';

/** Frames of one segment: a text of so many pieces is one event. */
const FRAMES_PER_SEGMENT = 16;
/** Segments that are translated and written before other work of this process gets its turn. */
const SEGMENTS_PER_WRITE = 150;

export interface SessionImport {
  readonly tenantId: string;
  /** Null: the conversation becomes a thread of its own. */
  readonly threadId: string | null;
  /** The run that the first turn follows; null: the newest. */
  readonly parentRunId: string | null;
  readonly turns: readonly SessionTurn[];
  /** For the turns that do not say whose they are. */
  readonly model: string;
  /** What the import is known by, so that it is done once; null: it is done again. */
  readonly idempotency: { readonly key: string; readonly fingerprint: string } | null;
}

/**
 * Makes a conversation that was held elsewhere part of a thread: each turn a settled run with its lane, steps and messages, as if
 * the built-in engine had held it. The next run goes on from the last.
 *
 * **Contract:** one transaction: all of it or nothing. Each run has its canonicalization intent, and is proven complete by the same
 * means as any other. With the same idempotency key and fingerprint it is done once (`created: false`). No workflow belongs to it.
 *
 * @throws TidemarkError `thread_busy`: the thread has a run that has not ended.
 */
export async function importSession(
  pool: pg.Pool,
  wanted: SessionImport,
): Promise<{ threadId: string; runIds: readonly string[]; created: boolean }> {
  const { tenantId, turns, idempotency } = wanted;
  if (turns.length === 0) throw new Error('an import has at least one turn');
  return await inTransaction(pool, async (client) => {
    if (idempotency !== null) {
      const earlier = await earlierCommand(client, { tenantId, ...idempotency }, idempotency.key);
      if (earlier !== null)
        return { threadId: (await readRun(client, earlier)).thread_id, runIds: [earlier], created: false };
    }
    const threadId = wanted.threadId ?? (await createThread(client, tenantId, null));
    await takeThread(client, threadId, tenantId);
    const runs = plannedRuns(wanted, threadId, await latestRun(client, threadId));
    await insertImportedRuns(client, { tenantId, threadId, runs, idempotency });
    await insertImportedSteps(client, runs);
    for (const some of inBatches(runs.flatMap(laneOf), SEGMENTS_PER_WRITE))
      for (const outcome of await appendToLanes(client, some)) if (!outcome.ok) throw outcome.error;
    await bindSession(client, threadId, runs.at(-1)?.runId ?? '');
    return { threadId, runIds: runs.map(({ runId }) => runId), created: true };
  });
}

/** The thread's lock, if nothing of it works or is to be gone. */
async function takeThread(client: pg.ClientBase, threadId: string, tenantId: string): Promise<void> {
  const thread = await lockThread(client, threadId, tenantId);
  if (!thread.erasing && thread.busy_run_id === null) return;
  if (thread.erasing)
    throw new TidemarkError('thread_erasing', `thread ${threadId} is being erased`, 'Use another thread.');
  throw new TidemarkError(
    'thread_busy',
    `run ${thread.busy_run_id ?? ''} has the turn in thread ${threadId}`,
    'Wait for that run, or cancel it.',
    { facts: { active_run_id: thread.busy_run_id } },
  );
}

function plannedRuns(
  { turns, model, parentRunId: parent }: SessionImport,
  threadId: string,
  newest: { run_id: string; turn_seq: number } | null,
): ImportedRun[] {
  let parentRunId = parent ?? newest?.run_id ?? null;
  let turnSeq = newest?.turn_seq ?? 0;
  return turns.map((turn) => {
    const run = { runId: newId('run'), threadId, parentRunId, turnSeq: ++turnSeq, model: turn.model ?? model, turn };
    parentRunId = run.runId;
    return { ...run, steps: turn.steps.map((step) => ({ ...step, contentHash: hashOf(step) })) };
  });
}

function hashOf({ message }: SessionStep): string {
  return hash('sha256', canonicalJson(message.content));
}

/** The run's whole lane: what the platform says of any run, and between it the conversation. */
function laneOf({ runId, turn }: ImportedRun): LaneAppend[] {
  const now = Date.now();
  const { timestamp } = turn.input;
  const ended = turn.steps.at(-1)?.message.timestamp ?? timestamp;
  const platform = { runId, provider: PLATFORM, writer: null, translate: translateSessionFrame };
  const say = (at: number, ...frames: PlatformFrame[]): LaneAppend => ({
    ...platform,
    frames: frames.map((frame) => ({ at: Math.min(at, now), frame })),
  });
  const opened: PlatformFrame = {
    type: 'session.opened',
    capabilities: ENGINE_CAPABILITIES.builtin,
    source: BUILTIN_ENGINE,
  };
  const revision = turn.steps.length + 1;
  const settled: PlatformFrame = {
    type: 'run.settled',
    ...turn.ending,
    session: { revision, headRef: `${runId}#${String(revision)}` },
  };
  const steps = turn.steps.flatMap((step): LaneAppend[] => {
    const at = step.message.timestamp;
    const { stepIndex, kind, status } = step;
    const writer = { stepIndex, attempt: 1 };
    return [
      { ...say(at, { type: 'step.started', step: stepIndex, kind, attempt: 1 }), also: { openStep: writer } },
      ...inBatches(step.frames, FRAMES_PER_SEGMENT).map((frames): LaneAppend => ({
        ...platform,
        provider: SESSION_PROVIDER,
        writer,
        frames: frames.map((frame) => ({ at: Math.min(at, now), frame })),
      })),
      { ...say(at, { type: 'step.ended', step: stepIndex, status }), also: { closeStep: stepIndex } },
    ];
  });
  return [
    say(timestamp, inputFrame(inputTextOf(turn)), opened),
    ...steps,
    { ...say(ended, settled), also: { seal: true } },
  ];
}

/** The thread's session with the engine stands where the last turn left it. */
async function bindSession(client: pg.ClientBase, threadId: string, runId: string): Promise<void> {
  await openStanding(client, {
    threadId,
    engine: BUILTIN_ENGINE,
    provider: BUILTIN_ENGINE,
    nativeSessionId: threadId,
    runtime: { kind: 'managed', id: 'tidemark' },
    protocolVersion: BUILTIN_PROTOCOL,
    capabilities: ENGINE_CAPABILITIES.builtin,
    runId,
  });
  await commitHead(client, { threadId, engine: BUILTIN_ENGINE, generation: 1 });
}
