import type pg from 'pg';
import { PLATFORM, type NativeFrame, type StampedFrame } from '../../contract/frames.ts';
import type { PlatformFrame } from '../../contract/platform-frames.ts';
import type { TranslateFrame } from '../../contract/translation.ts';
import { newId } from '../ids.ts';
import type { LaneAppend } from './lane-append.ts';
import { appendToLanes } from './lane.ts';
import { insertMessages, sessionHead, type NewMessage } from './message.ts';
import { insertInterrupt, requestedFrame, type InterruptRequest } from './new-interrupt.ts';
import { lockThreadOfRun, readRun } from './run.ts';
import { insertVerdicts, type ToolVerdict } from './tool-verdict.ts';
import { inTransaction, type Queryable } from './transaction.ts';

/** A tool call that is answered without being run, and the engine's frame that says so. */
export interface ToolReply {
  readonly message: Extract<NewMessage, { role: 'tool-result' }>;
  readonly frame: NativeFrame;
}

/**
 * Commits what the gate decided about a model step's tool calls: interrupts with their frames and deliveries, and answers to
 * the calls that will not run, in one transaction. Only then is any of it published (design §3.5). Gives the answers that are new.
 *
 * **Contract:** safe to repeat: an interrupt of a step and an answer to a call exist once, and are said once. A run that is
 * being cancelled asks nothing more.
 */
export async function commitGate(
  pool: pg.Pool,
  gate: {
    runId: string;
    modelStep: number;
    interrupts: readonly InterruptRequest[];
    replies: readonly ToolReply[];
    verdicts: readonly ToolVerdict[];
    /** What the extensions said while they judged. */
    said: readonly StampedFrame[];
    provider: string;
    translate: TranslateFrame;
  },
): Promise<readonly ToolReply[]> {
  const { runId, modelStep, interrupts, replies, verdicts, said, provider, translate } = gate;
  if (interrupts.length + replies.length + verdicts.length === 0) return [];
  return await inTransaction(pool, async (client) => {
    await lockThreadOfRun(client, runId);
    const run = await readRun(client, runId);
    if (run.settled_at !== null || run.cancel_requested_at !== null) return [];
    await insertVerdicts(client, runId, verdicts);
    const answered = await answeredCalls(client, runId);
    const askedSteps = await stepsAsked(client, runId);
    const newReplies = replies.filter(({ message }) => !answered.has(message.toolCallId));
    const newInterrupts = interrupts
      .filter(({ stepIndex }) => !askedSteps.has(stepIndex))
      .map((request) => ({ interruptId: newId('interrupt'), ...request }));
    const at = Date.now();
    const lane = { runId, writer: null, translate };
    const appends: LaneAppend[] = [];
    const frames = [...said, ...newReplies.map(({ frame }) => ({ at, frame }))];
    if (frames.length > 0) appends.push({ ...lane, provider, frames });
    await insertMessages(
      client,
      runId,
      modelStep,
      newReplies.map(({ message }) => message),
    );
    for (const request of newInterrupts) await insertInterrupt(client, run, request);
    if (newInterrupts.length > 0) {
      const asking = newInterrupts.map(({ interruptId }) => interruptId);
      const parked: PlatformFrame = {
        type: 'session.parked',
        interrupts: asking,
        ...(await sessionHead(client, runId)),
      };
      const asked = [...newInterrupts.map((request) => requestedFrame(runId, request)), parked].map((frame) => ({
        at,
        frame,
      }));
      appends.push({ ...lane, provider: PLATFORM, frames: asked });
    }
    if (appends.length > 0) {
      for (const outcome of await appendToLanes(client, appends)) if (!outcome.ok) throw outcome.error;
    }
    return newReplies;
  });
}

async function answeredCalls(client: Queryable, runId: string): Promise<Set<string>> {
  const { rows } = await client.query<{ tool_call_id: string }>({
    name: 'message-answered',
    text: 'select tool_call_id from message where run_id = $1 and tool_call_id is not null',
    values: [runId],
  });
  return new Set(rows.map((row) => row.tool_call_id));
}

async function stepsAsked(client: Queryable, runId: string): Promise<Set<number>> {
  const { rows } = await client.query<{ step_index: number }>({
    name: 'interrupt-steps',
    text: 'select step_index from interrupt where run_id = $1',
    values: [runId],
  });
  return new Set(rows.map((row) => row.step_index));
}
