import { hash } from 'node:crypto';
import type pg from 'pg';
import { canonicalJson } from '../../contract/canonical-json.ts';
import type { InterruptKind } from '../../contract/decision.ts';
import { PLATFORM, type NativeFrame } from '../../contract/frames.ts';
import { previewInput, type PlatformFrame } from '../../contract/platform-frames.ts';
import type { TranslateFrame } from '../../contract/translation.ts';
import { newId } from '../ids.ts';
import { appendToLanes, type LaneAppend } from './lane.ts';
import { insertMessages, sessionHead, type NewMessage } from './message.ts';
import { lockThreadOfRun, readRun, type RunRow } from './run.ts';
import { inTransaction, type Queryable } from './transaction.ts';

export interface InterruptRequest {
  readonly stepIndex: number;
  readonly kind: InterruptKind;
  readonly toolCallId: string;
  readonly toolName: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** The tool's JSON Schema, as text: what edited arguments must fit. */
  readonly schema: string;
  readonly prompt: string;
  readonly options: readonly string[];
}

/** A tool call that is answered without being run, and the engine's frame that says so. */
export interface ToolReply {
  readonly message: Extract<NewMessage, { role: 'tool-result' }>;
  readonly frame: NativeFrame;
}

/** The digest that binds an answer to the arguments it was given for: SHA-256 of their canonical JSON. */
export function digestArguments(args: Readonly<Record<string, unknown>>): string {
  return hash('sha256', canonicalJson(args));
}

/**
 * Commits what the gate decided about a model step's tool calls: interrupts with their frames and deliveries, and answers to
 * the calls that will not run, in one transaction. Only then is any of it published (design §3.5).
 *
 * **Contract:** safe to repeat: an interrupt of a step and an answer to a call exist once, and are said once. A run that is
 * being cancelled asks nothing more.
 */
export async function commitGate(
  pool: pg.Pool,
  gate: {
    runId: string;
    interrupts: readonly InterruptRequest[];
    replies: readonly ToolReply[];
    provider: string;
    translate: TranslateFrame;
  },
): Promise<void> {
  const { runId, interrupts, replies, provider, translate } = gate;
  if (interrupts.length + replies.length === 0) return;
  await inTransaction(pool, async (client) => {
    await lockThreadOfRun(client, runId);
    const run = await readRun(client, runId);
    if (run.settled_at !== null || run.cancel_requested_at !== null) return;
    const answered = await answeredCalls(client, runId);
    const asked = await askedSteps(client, runId);
    const newReplies = replies.filter(({ message }) => !answered.has(message.toolCallId));
    const newInterrupts = interrupts
      .filter(({ stepIndex }) => !asked.has(stepIndex))
      .map((request) => ({ interruptId: newId('interrupt'), ...request }));
    const at = Date.now();
    const lane = { runId, writer: null, translate };
    const appends: LaneAppend[] = [];
    if (newReplies.length > 0)
      appends.push({ ...lane, provider, frames: newReplies.map(({ frame }) => ({ at, frame })) });
    await insertMessages(
      client,
      runId,
      null,
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
      const frames = [...newInterrupts.map(requestedFrame), parked].map((frame) => ({ at, frame }));
      appends.push({ ...lane, provider: PLATFORM, frames });
    }
    if (appends.length === 0) return;
    for (const outcome of await appendToLanes(client, appends)) if (!outcome.ok) throw outcome.error;
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

async function askedSteps(client: Queryable, runId: string): Promise<Set<number>> {
  const { rows } = await client.query<{ step_index: number }>({
    name: 'interrupt-steps',
    text: 'select step_index from interrupt where run_id = $1',
    values: [runId],
  });
  return new Set(rows.map((row) => row.step_index));
}

async function insertInterrupt(
  client: Queryable,
  run: RunRow,
  request: InterruptRequest & { interruptId: string },
): Promise<void> {
  await client.query({
    name: 'interrupt-insert',
    text: `insert into interrupt (interrupt_id, tenant_id, thread_id, run_id, step_index, kind, tool_call_id, tool_name,
                                  arguments, args_digest, schema, prompt, options, status, deadline_at)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, 'pending',
                   now() + make_interval(secs => $14))`,
    values: [
      request.interruptId,
      run.tenant_id,
      run.thread_id,
      run.run_id,
      request.stepIndex,
      request.kind,
      request.toolCallId,
      request.toolName,
      JSON.stringify(request.arguments),
      digestArguments(request.arguments),
      request.schema,
      request.prompt,
      JSON.stringify(request.options),
      run.settings.interrupt_timeout_seconds ?? null,
    ],
  });
}

function requestedFrame(request: InterruptRequest & { interruptId: string }): PlatformFrame {
  const { interruptId, kind, prompt, options, toolCallId, toolName } = request;
  const input = previewInput(request.arguments);
  return { type: 'interrupt.requested', interruptId, kind, prompt, options: [...options], toolCallId, toolName, input };
}
