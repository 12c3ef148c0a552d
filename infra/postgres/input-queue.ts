import type pg from 'pg';
import type { UserMessage } from '../../contract/agent-messages.ts';
import { BUILTIN_ENGINE } from '../../contract/engines.ts';
import { TidemarkError } from '../../contract/errors.ts';
import { PLATFORM, previewText, type NativeFrame } from '../../contract/frames.ts';
import { injectedFrame, PREVIEW_LIMIT_CHARS } from '../../contract/platform-frames.ts';
import type { InputQueue } from '../../contract/queued-input.ts';
import { saysNothing, type TranslateFrame } from '../../contract/translation.ts';
import { newId } from '../ids.ts';
import type { LaneAppend } from './lane-append.ts';
import { appendToLane } from './lane.ts';
import { insertMessages } from './message.ts';
import { countWaiting, type QueuedInputRow } from './queued-input.ts';
import { readRun, type RunRow } from './run.ts';
import type { Queryable } from './transaction.ts';

/** Inputs that wait for one run, at most: each costs a model call, so more than this is a client that does not look. */
const WAITING_LIMIT = 100;

export interface NewInput {
  readonly queue: InputQueue;
  readonly text: string;
  readonly idempotencyKey: string | null;
  readonly fingerprint: string;
}

/**
 * Queues an input for a run, in the caller's transaction, which holds the thread's lock.
 *
 * **Contract:** null when the run takes no input any more (it is being cancelled, or has come to its natural stop with nothing
 * waiting): the caller makes a run of its own of it. What is queued is injected by the run, or dropped and said to be when the run
 * is cut short; never lost.
 *
 * @throws TidemarkError `steering_unsupported`, `input_queue_full`.
 */
export async function queueInput(
  client: pg.ClientBase,
  runId: string,
  input: NewInput,
): Promise<QueuedInputRow | null> {
  const run = await readRun(client, runId);
  if (run.settled_at !== null || run.cancel_requested_at !== null || run.input_closed_at !== null) return null;
  // it only compacts: no model of it would answer
  if (run.settings.compact !== undefined) return null;
  if (run.engine !== BUILTIN_ENGINE) throw unsupported(run);
  if ((await countWaiting(client, runId)) >= WAITING_LIMIT) throw queueFull(runId);
  const { queue, text, idempotencyKey, fingerprint } = input;
  const inputId = newId('input');
  const { rows } = await client.query<QueuedInputRow>({
    name: 'input-insert',
    text: `with touched as (
             update thread set updated_at = now() where thread_id = $2
           )
           insert into queued_input (input_id, tenant_id, thread_id, run_id, input_index, queue, text, state,
                                     idempotency_key, fingerprint)
           values ($1, $3, $2, $4, (select coalesce(max(input_index), -1) + 1 from queued_input where run_id = $4), $5, $6,
                   'queued', $7, $8)
           returning *`,
    values: [inputId, run.thread_id, run.tenant_id, runId, queue, JSON.stringify(text), idempotencyKey, fingerprint],
  });
  await appendToLane(client, busEvent(runId, { type: 'queued', line: lineOf(text), inputId, queue }));
  if (rows[0] === undefined) throw new Error(`run ${runId} was given an input that is not there`);
  return rows[0];
}

/**
 * Puts the input that is due at a model step into the run's session: what the natural stop before has promised it, else the oldest
 * that steers. One at a time (source facts C.6). In the transaction that opens the step, so a step that is repeated finds it there.
 *
 * @returns the message, and what the lane must say of it; null when none was due.
 */
export async function injectInput(
  client: Queryable,
  runId: string,
  stepIndex: number,
): Promise<{ message: UserMessage; says: LaneAppend[] } | null> {
  const { rows } = await client.query<QueuedInputRow>({
    name: 'input-inject',
    text: `update queued_input set state = 'injected', injected_at = now(), step_index = $2
            where input_id = (select input_id from queued_input
                               where run_id = $1 and state = 'queued'
                                 and (step_index = $2 or (step_index is null and queue = 'steering'))
                               order by step_index nulls last, input_index
                               limit 1)
        returning *`,
    values: [runId, stepIndex],
  });
  const [row] = rows;
  if (row === undefined) return null;
  const { input_id: inputId, queue, created_at: createdAt } = row;
  const text = JSON.parse(row.text) as string;
  const message: UserMessage = { role: 'user', content: text, timestamp: createdAt.getTime() };
  await insertMessages(client, runId, stepIndex, [message]);
  const frames = [{ at: Date.now(), frame: injectedFrame({ inputId, queue, text }) }];
  const says = [
    busEvent(runId, { type: 'user', line: lineOf(text), inputId, queue }),
    { runId, provider: PLATFORM, writer: null, translate: saysNothing, frames },
  ];
  return { message, says };
}

/**
 * Decides, under the thread's lock, what a natural stop comes to: the next input is promised to the next step, steering before
 * follow-ups; or the run takes no more input. The two exclude each other, so no input falls between the last step and the
 * settlement.
 */
export async function takeNextOrClose(
  client: Queryable,
  { runId, nextStep }: { runId: string; nextStep: number },
): Promise<'continue' | 'closed'> {
  const { rowCount } = await client.query({
    name: 'input-promise',
    text: `update queued_input set step_index = $2
            where input_id = (select input_id from queued_input
                               where run_id = $1 and state = 'queued'
                               order by queue = 'steering' desc, input_index
                               limit 1)`,
    values: [runId, nextStep],
  });
  if (rowCount === 1) return 'continue';
  await client.query({
    name: 'input-close',
    text: 'update run set input_closed_at = coalesce(input_closed_at, now()) where run_id = $1',
    values: [runId],
  });
  return 'closed';
}

/** The bus's events about a user's line (extension contracts, "Events"), with the input that it is. */
function busEvent(runId: string, frame: NativeFrame): LaneAppend {
  return {
    runId,
    provider: BUILTIN_ENGINE,
    writer: null,
    translate: saidByPlatform,
    frames: [{ at: Date.now(), frame }],
  };
}

/** As the built-in engine's dialect has it: `queued` and `user` say nothing that the platform's own frame does not. */
const saidByPlatform: TranslateFrame = () => ({ said: { suppressed: 'said when the input is injected' } });

function lineOf(text: string): string {
  return previewText(text, PREVIEW_LIMIT_CHARS);
}

function unsupported({ run_id: runId, engine }: RunRow): TidemarkError {
  return new TidemarkError(
    'steering_unsupported',
    `run ${runId} is driven by ${engine}, which takes no input while it works`,
    'Send "multitask": "enqueue" to queue behind it, or "interrupt" to cancel it and run this instead.',
    { facts: { active_run_id: runId, engine } },
  );
}

function queueFull(runId: string): TidemarkError {
  return new TidemarkError(
    'input_queue_full',
    `${String(WAITING_LIMIT)} inputs wait for run ${runId} already`,
    'Wait until it has taken some, or drop them with DELETE /v1/runs/{id}/inputs.',
    { facts: { active_run_id: runId, limit: WAITING_LIMIT } },
  );
}
