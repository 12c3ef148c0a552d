import type { DeliveredEvent } from '../../../contract/canonical.ts';
import { visible } from '../visible.ts';
import { TidemarkApiError } from '../../typescript/api-error.ts';
import { RunFold } from '../../typescript/run-fold.ts';
import { finalText } from '../../typescript/run-text.ts';
import type { ThreadItem } from '../../typescript/thread-item.ts';
import type { Presenter, PresenterContext } from '../presenter.ts';
import { readAll } from '../streams.ts';
import { UsageError } from '../usage.ts';
import { activityLine, endingOf } from '../activity-line.ts';

/** The proof of a run's events comes right behind its end, unless it was given up. */
const PROOF_WITHIN_MS = 30_000;

/** Why the stream is left before the run’s end. */
const LEFT = 'left';

/**
 * One prompt, from the command line or standard input, to the final text on standard output; everything else is on standard
 * error.
 *
 * **Contract:** 0 when the run completed. 1 when it failed, was cancelled, or waits for a person: that run stays, and what it
 * waits for is named. Ctrl-C cancels the run.
 */
export const printPresenter: Presenter = {
  name: 'print',
  async run(context) {
    const { streams, session, prompt } = context;
    const text = prompt ?? (streams.input.isTTY === true ? '' : await readAll(streams.input));
    if (text.trim() === '') throw new UsageError('there is no prompt: give one as an argument, or on standard input');
    await session.joinAtHead();
    const { run } = await session.submit(text);
    streams.errors.write(`run ${run.run_id} in thread ${run.thread_id}\n`);
    const fold = await followToEnd(context, run.run_id);
    if (fold === null) return context.exitWith(1);
    const settled = await session.client.runs.wait(run.run_id);
    const answer = finalText(fold.events());
    if (answer !== '') streams.output.write(`${streams.output.isTTY === true ? visible(answer) : answer}\n`);
    if (settled.status === 'completed') return;
    streams.errors.write(`${visible(endingOf(settled))}\n`);
    context.exitWith(1);
  },
};

/** The run's events once they are proven, or will not be; null when nobody is there to answer what the run asks. */
async function followToEnd(context: PresenterContext, runId: string): Promise<RunFold | null> {
  const { session, streams } = context;
  const enough = new AbortController();
  let isCancelling = false;
  const stopListening = context.onCtrlC(() => {
    if (isCancelling) enough.abort(LEFT);
    isCancelling = true;
    streams.errors.write('cancelling… (Ctrl-C again leaves the run alone)\n');
    session.cancel().catch((error: unknown) => enough.abort(error));
  });
  const fold = new RunFold();
  let deadline: NodeJS.Timeout | undefined;
  try {
    for await (const item of session.items({ signal: AbortSignal.any([context.signal, enough.signal]) })) {
      if (item.type === 'gone') return fold;
      if (!isOf(item, runId)) continue;
      if (item.type === 'complete') return fold;
      fold.add(item.event);
      const line = activityLine(item.event);
      if (line !== null) streams.errors.write(`${visible(line)}\n`);
      const asked = askedIn(item.event);
      if (asked !== null && !(await settleInterrupt(context, asked))) return null;
      if (item.event.kind === 'turn.completed') deadline = setTimeout(() => enough.abort(), PROOF_WITHIN_MS);
    }
    if (enough.signal.reason instanceof TidemarkApiError) throw enough.signal.reason;
    return context.signal.aborted || enough.signal.reason === LEFT ? null : fold;
  } finally {
    clearTimeout(deadline);
    stopListening();
  }
}

type OfRun = Extract<ThreadItem, { readonly type: 'event' | 'complete' }>;

function isOf(item: ThreadItem, runId: string): item is OfRun {
  return (
    (item.type === 'event' && item.event.runId === runId) || (item.type === 'complete' && item.complete.runId === runId)
  );
}

function askedIn(event: DeliveredEvent): string | null {
  if (event.kind === 'approval.requested') return event.approvalId;
  return event.kind === 'question.requested' ? event.questionId : null;
}

/** Approves where that was said beforehand; false when the run waits for a person who is not here. */
async function settleInterrupt(context: PresenterContext, id: string): Promise<boolean> {
  const { session, streams, approvesAll } = context;
  const interrupt = await session.client.interrupts.get(id);
  if (interrupt.status !== 'pending') return true;
  if (interrupt.kind === 'approval' && approvesAll) {
    await session.resolve(id, { decision: 'approve' }).catch(alreadyAnswered);
    return true;
  }
  const what = interrupt.kind === 'approval' ? `approval of ${interrupt.tool_name ?? 'a call'}` : 'an answer';
  const how =
    interrupt.kind === 'approval' ? `tidemark approve ${id}, or run with --approve` : `tidemark answer ${id} <text>`;
  streams.errors.write(visible(`${interrupt.run_id} waits for ${what}: ${interrupt.prompt}\nAnswer it: ${how}\n`));
  return false;
}

function alreadyAnswered(error: unknown): void {
  if (!(error instanceof TidemarkApiError) || error.code !== 'interrupt_already_resolved') throw error;
}
