import { sequence } from '../../fixtures/sse-client.ts';
import { foldEvents, textOf, type Delivery, type Rest, type Run, type SaidEvent } from '../../fixtures/rest.ts';

interface Step {
  readonly step_index: number;
  readonly kind: 'model' | 'tool' | 'turn';
  readonly label: string;
  readonly attempt: number;
  readonly status: string;
}

export interface ThreadFound {
  readonly faults: readonly string[];
  readonly runs: readonly Run[];
  readonly head: number;
  /** The longest that one of its runs said nothing while nothing and nobody was waited for. */
  readonly longestSilenceMs: number;
  readonly steps: ReadonlyMap<string, readonly Step[]>;
  /** What each run said, as one who has read the whole log holds it. */
  readonly texts: ReadonlyMap<string, string>;
}

/** Tools that may be repeated after a crash, by their own declaration. */
const REPEATABLE = new Set(['list_files', 'read_file', 'fetch_url']);

/** Everything that must hold of a thread whose runs are over, however they got there. Gives what does not. */
export async function inspectThread(rest: Rest, threadId: string): Promise<ThreadFound> {
  const deliveries = await rest.deliveries(threadId);
  const { body } = await rest.send<{ data: Run[] }>('GET', `/v1/threads/${threadId}/runs?limit=100`);
  const faults: string[] = [];
  const seqs = deliveries.map(({ delivery_seq: seq }) => seq);
  if (seqs.join() !== sequence(seqs.length).join()) faults.push(`${threadId}: deliverySeq is not dense`);
  faults.push(...faultsOfRevisions(deliveries));
  const steps = new Map<string, readonly Step[]>();
  for (const run of body.data) {
    const { body: of } = await rest.send<{ data: Step[] }>('GET', `/v1/runs/${run.run_id}/steps`);
    steps.set(run.run_id, of.data);
    const found = [...faultsOfRun(run, deliveries), ...faultsOfSteps(of.data)];
    const { body: proof } = await rest.send<{ holds: boolean }>('GET', `/v1/runs/${run.run_id}/verify`);
    if (!proof.holds) found.push('its digest does not verify');
    faults.push(...found.map((fault) => `${run.run_id} (${run.status}): ${fault}`));
  }
  const events = deliveries.flatMap(({ event }) => event ?? []);
  const texts = new Map(body.data.map(({ run_id: id }) => [id, textOf(foldEvents(events, id))]));
  const longestSilenceMs = Math.max(0, ...body.data.map(({ run_id: id }) => longestSilence(deliveries, id)));
  return { faults, runs: body.data, head: seqs.length, longestSilenceMs, steps, texts };
}

/** After these a run may wait: for its turn, or for a person. */
const MAY_WAIT = new Set(['turn.started', 'approval.requested', 'question.requested', 'session.metadata']);

function longestSilence(deliveries: readonly Delivery[], runId: string): number {
  const said = deliveries
    .flatMap(({ event }) => event ?? [])
    .filter((event) => event.runId === runId && event.retracted !== true)
    .map(({ kind, ts }) => ({ kind, at: Number(ts) }))
    .toSorted((a, b) => a.at - b.at);
  return Math.max(0, ...said.map(({ kind, at }, i) => (MAY_WAIT.has(kind) ? 0 : (said[i + 1]?.at ?? at) - at)));
}

/** Revisions of an event count up from 0 by one, keep its place, and begin with what is not a retraction. */
function faultsOfRevisions(deliveries: readonly Delivery[]): string[] {
  const last = new Map<string, SaidEvent>();
  const faults: string[] = [];
  for (const { event } of deliveries) {
    if (event === undefined) continue;
    const earlier = last.get(event.eventId);
    if (event.revision !== (earlier?.revision ?? -1) + 1)
      faults.push(`${event.eventId}: revision ${String(event.revision)} after ${String(earlier?.revision ?? 'none')}`);
    if (earlier !== undefined && earlier.seq !== event.seq) faults.push(`${event.eventId}: moved in its run`);
    if (earlier === undefined && event.retracted === true)
      faults.push(`${event.eventId}: withdrawn before it was said`);
    last.set(event.eventId, event);
  }
  return faults;
}

function faultsOfRun(run: Run, deliveries: readonly Delivery[]): string[] {
  const faults: string[] = [];
  if (run.status !== 'completed' && run.status !== 'failed') faults.push('not settled');
  if (run.canonical_state !== 'complete') faults.push(`canonical state ${run.canonical_state}`);
  if (run.pending_interrupts.length > 0) faults.push('still asks');
  const mine = deliveries.filter(({ event, complete }) => (event ?? complete)?.runId === run.run_id);
  const ends = mine.filter(({ event }) => event?.kind === 'turn.completed');
  if (ends.length !== 1) faults.push(`${String(ends.length)} turn.completed delivered`);
  if (mine.filter(({ complete }) => complete !== undefined).length !== 1) faults.push('not one completion record');
  if (mine.at(-1)?.complete === undefined) faults.push('something was delivered behind the completion record');
  const events = foldEvents(
    mine.flatMap(({ event }) => event ?? []),
    run.run_id,
  );
  if (events.at(-1)?.kind !== 'turn.completed') faults.push('turn.completed is not its last event');
  const started = events.filter(({ kind }) => kind === 'tool.started').map(({ toolCallId }) => toolCallId);
  if (new Set(started).size !== started.length) faults.push('a tool call was started twice');
  return faults;
}

/**
 * An attempt of a tool that is not repeatable and died must not have been tried again: its repeat may only say that the
 * outcome is unknown, which is a failure. A runner that ignores the declaration ends the repeat as `completed`.
 */
function faultsOfSteps(steps: readonly Step[]): string[] {
  return steps.flatMap(({ step_index: index, kind, label, attempt, status }) => {
    const faults: string[] = [];
    if (status === 'running') faults.push(`step ${String(index)} is still open`);
    if (kind === 'tool' && attempt > 1 && status === 'completed' && !REPEATABLE.has(label))
      faults.push(`step ${String(index)} ran ${label} again`);
    return faults;
  });
}
