import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { WORKFLOW } from '../../../contract/messages.ts';
import type { Stack } from '../../../infra/testing/stack.ts';
import type { Rest, Run } from '../../fixtures/rest.ts';
import { inspectThread, type ThreadFound } from './checks.ts';
import type { Effects } from './effects.ts';
import type { Fleet } from './fleet.ts';
import { wholeStream, type Follower } from './follower.ts';
import type { Ledger } from './ledger.ts';
import { isRejected, type StartedRun } from './load.ts';
import type { RunKind } from './plan.ts';
import { processesOf } from './processes.ts';

/** Nothing is left to do in the rows, and every workflow has come to its own end. */
export async function checkNothingOpen({ pool, temporalAddress, namespace }: Stack, ledger: Ledger): Promise<void> {
  const { rows } = await pool.query<{ what: string; count: number }>(
    `select 'intents' as what, count(*)::int as count from outbox where state <> 'complete'
     union all select 'interrupts', count(*)::int from interrupt where status = 'pending'
     union all select 'steps', count(*)::int from step where status = 'running'
     union all select 'turns', count(*)::int from thread where active_run_id is not null
     union all select 'unsealed lanes', count(*)::int from lane where sealed_at is null
     union all select 'commands', count(*)::int from command where kind = 'run.create' and state <> 'completed'`,
  );
  for (const { what, count } of rows) if (count > 0) ledger.fault(`${String(count)} ${what} are open`);
  const connection = await Connection.connect({ address: temporalAddress });
  const temporal = new Client({ connection, namespace });
  const query = `WorkflowType = '${WORKFLOW.agentRun}' and ExecutionStatus != 'Completed'`;
  // the last ones end after their proof, and are seen to have ended a little later
  let open = 1;
  for (const giveUpAt = performance.now() + 60_000; open > 0 && performance.now() < giveUpAt; await sleep(500))
    open = (await temporal.workflow.count(query)).count;
  await connection.close();
  if (open > 0) ledger.fault(`${String(open)} workflows have not completed`);
}

export async function inspectAll(rest: Rest, runs: readonly StartedRun[], ledger: Ledger): Promise<ThreadFound[]> {
  const found: ThreadFound[] = [];
  for (const threadId of new Set(runs.map((run) => run.threadId))) {
    const thread = await inspectThread(rest, threadId);
    found.push(thread);
    ledger.longestSilenceMs = Math.max(ledger.longestSilenceMs, thread.longestSilenceMs);
    for (const fault of thread.faults) ledger.fault(fault);
    const started = runs.filter((run) => run.threadId === threadId);
    if (thread.runs.length !== started.length)
      ledger.fault(`${threadId}: ${String(thread.runs.length)} runs where ${String(started.length)} were started`);
    for (const { planned, runId } of started) {
      const run = thread.runs.find(({ run_id: id }) => id === runId);
      checkEnding(planned.kind, run, ledger);
      const attempts = (thread.steps.get(runId) ?? [])
        .map(({ kind, attempt }) => `${kind} ${String(attempt)}`)
        .join(', ');
      if (run?.error?.code === 'worker_lost') ledger.note(`${runId} lost its worker too often: attempts ${attempts}`);
      checkText(planned.kind, { runId, status: run?.status, text: thread.texts.get(runId) ?? '' }, ledger);
    }
    for (const steps of thread.steps.values())
      for (const { kind, attempt } of steps) if (attempt > 1) ledger.count(`${kind} step repeated`);
  }
  ledger.note(`${String(found.reduce((sum, { head }) => sum + head, 0))} deliveries checked`);
  return found;
}

/** How it ended is what was asked for; a worker lost again and again is the one excuse, and none for a cancelled run. */
function checkEnding(kind: string, run: Run | undefined, ledger: Ledger): void {
  if (run === undefined) return ledger.fault('a run that was accepted is not in its thread');
  const how = `${run.status}${run.error === null ? '' : ` (${run.error.code})`}`;
  ledger.count(`ended: ${kind === 'cancel' ? 'cancel ' : ''}${how}`);
  if (kind === 'cancel' ? run.stop_reason === 'cancelled' : run.status === 'completed') return;
  if (kind === 'cancel' || run.error?.code !== 'worker_lost')
    ledger.fault(`${run.run_id} (${kind}) ended as ${how}, ${String(run.stop_reason)}`);
}

const WORDS = Array.from({ length: 600 }, (_, i) => `word${String(i)} `);
const SAYS: Readonly<Record<RunKind, string>> = {
  answer: 'The answer is 42. ñ 你好 🌍',
  talk: WORDS.slice(0, 50).join(''),
  parallel: 'Two looks at once.Both looks are over.',
  store: 'I will store it.The store turn is over.',
  fetch: 'The fetch turn is over.',
  ask: 'Thank you.',
  cancel: WORDS.join(''),
  agent: 'The agent begins.make it: the-allow_once. The agent ends.',
};

/**
 * What a run says is what its model said, once: a writer that was not fenced off, or an attempt that was not withdrawn, doubles
 * it, and a frame that was dropped shortens it. A run that was stopped has said the beginning.
 */
function checkText(
  kind: RunKind,
  said: { runId: string; status: string | undefined; text: string },
  ledger: Ledger,
): void {
  const { runId, status, text } = said;
  const isRight =
    kind === 'agent' ? saysAsAgent(text) : status === 'completed' ? text === SAYS[kind] : SAYS[kind].startsWith(text);
  if (!isRight) ledger.fault(`${runId} (${kind}) says ${JSON.stringify(text.slice(0, 400))}`);
}

/** A turn that was stopped stays said up to there, and the agent goes on from it, each time that it is stopped. */
function saysAsAgent(text: string): boolean {
  return SAYS.agent.startsWith(text.replace(/(?:It goes on\.)+$/, ''));
}

/** No effect twice, none without its step, none of a call that was rejected; counted outside of the product. */
export function checkEffects(
  runs: readonly StartedRun[],
  found: readonly ThreadFound[],
  effects: Effects,
  ledger: Ledger,
): void {
  const stepsOf = new Map(found.flatMap(({ steps }) => [...steps]));
  for (const { planned, runId } of runs) {
    const tool = stepsOf.get(runId)?.find(({ kind }) => kind === 'tool');
    if (planned.kind === 'store') {
      const writes = effects.writes(`${planned.name}.txt`);
      ledger.count(`files written ${String(writes)} time(s)`);
      const least = tool?.status === 'completed' ? 1 : 0;
      const most = isRejected(planned.name) ? 0 : 1;
      if (writes < least || writes > most) ledger.fault(`${runId} wrote its file ${String(writes)} times`);
    }
    if (planned.kind === 'fetch') {
      const fetches = effects.fetches(`/${planned.name}`);
      if (fetches > (tool?.attempt ?? 0))
        ledger.fault(`${runId} fetched ${String(fetches)} times in ${String(tool?.attempt ?? 0)} attempts`);
    }
  }
}

/** What each client saw is the log: every delivery, the same bytes. */
export async function checkFollowers(
  followers: readonly Follower[],
  found: readonly ThreadFound[],
  url: string,
  ledger: Ledger,
): Promise<void> {
  const heads = new Map(found.map(({ runs, head }) => [runs[0]?.thread_id, head]));
  for (const follower of followers) {
    const head = heads.get(follower.threadId) ?? 0;
    for (const giveUpAt = performance.now() + 30_000; follower.cursor < head && performance.now() < giveUpAt;)
      await sleep(100);
    const log = await wholeStream(url, follower.threadId, head);
    const differs = [...log].filter(([seq, text]) => follower.seen.get(seq) !== text).length;
    const more = [...follower.seen.keys()].filter((seq) => !log.has(seq)).length;
    if (log.size !== head)
      ledger.fault(`the stream of ${follower.threadId} gives ${String(log.size)} of ${String(head)}`);
    if (differs + more > 0)
      ledger.fault(
        `a client of ${follower.threadId} missed or misread ${String(differs)} and saw ${String(more)} that are not in the log`,
      );
    ledger.count('client’s view compared');
  }
}

export async function checkProcesses(stack: Stack, fleet: Fleet, ledger: Ledger): Promise<void> {
  const own = new Set(fleet.pids);
  for (const { pid, command } of await processesOf(stack.home))
    if (!own.has(pid)) ledger.fault(`process ${String(pid)} was left: ${command}`);
}
