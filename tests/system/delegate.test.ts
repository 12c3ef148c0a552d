import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { Runtime, Worker } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { expectSound } from '../engines/sound-run.ts';
import { historyOf } from '../fixtures/histories.ts';
import { textOf, type Run, type SaidEvent } from '../fixtures/rest.ts';
import { SseClient } from '../fixtures/sse-client.ts';
import { useWorld } from '../fixtures/world.ts';

const quiet = { trace() {}, debug() {}, info() {}, warn() {}, error() {}, log() {} };
const world = useWorld();
let connection: Connection;
let temporal: Client;

beforeAll(async () => {
  connection = await Connection.connect({ address: world.stack.temporalAddress });
  temporal = new Client({ connection, namespace: world.stack.namespace });
});
afterAll(async () => await connection?.close());

interface Task {
  /** Begins with the key of the scripted model's answer. */
  readonly task: string;
  readonly [argument: string]: unknown;
}

async function delegating(tasks: readonly Task[], more: Record<string, unknown> = {}): Promise<Run> {
  return await world.rest.startRun(`DELEGATE ${JSON.stringify(tasks)}`, more);
}

async function ended(run: Run, status = 'completed'): Promise<SaidEvent[]> {
  const end = await world.rest.settled(run.run_id);
  expect(end).toMatchObject({ status });
  await expectSound(world, end);
  return await world.rest.events(run);
}

const speakerOf = ({ identity }: SaidEvent): string | undefined =>
  (identity as { nativeSessionId?: string }).nativeSessionId;
const saidBy = (events: readonly SaidEvent[], childId: string | undefined): SaidEvent[] =>
  events.filter((event) => speakerOf(event) === childId);
const of = (events: readonly SaidEvent[], kind: string): SaidEvent[] => events.filter((event) => event.kind === kind);

async function leg(run: Run, encoding: string, number = 1): Promise<Record<string, unknown>[]> {
  const path = `/v1/runs/${run.run_id}/events?encoding=${encoding}&leg=${String(number)}`;
  const client = await (await SseClient.open(`${world.stack.url}${path}`)).untilClosed(30_000);
  return client.frames.flatMap(({ data }) => (data === undefined ? [] : [JSON.parse(data) as Record<string, unknown>]));
}

async function written(run: Run, path = 'note.txt'): Promise<string | null> {
  return await readFile(join(world.stack.home, 'workspaces', run.thread_id, path), 'utf8').catch(() => null);
}

async function detailsOf(workflowId: string): Promise<string> {
  const handle = temporal.workflow.getHandle(workflowId);
  return (await handle.query<{ currentDetails: string }>('__temporal_workflow_metadata')).currentDetails;
}

describe('a task that is delegated', () => {
  it('is done by a sub-agent in a namespace of its own, and its last words are the result of the call', async () => {
    const run = await delegating([{ task: 'answer it', name: 'scout' }]);
    const events = await ended(run);
    const childId = `${run.run_id}.c1`;
    const [call] = of(events, 'tool.started');
    expect(of(events, 'child.started')).toMatchObject([
      {
        childId,
        launchToolCallId: call?.['toolCallId'],
        title: 'scout',
        state: { prompt: 'ANSWER it', model: 'openai/scripted' },
      },
    ]);
    const answer = 'The answer is 42. ñ 你好 🌍';
    expect(textOf(saidBy(events, childId))).toBe(answer);
    expect(textOf(saidBy(events, undefined))).toBe('I will delegate.The delegated work is over.');
    expect(of(events, 'child.completed')).toMatchObject([{ childId, status: 'ok', result: answer }]);
    expect(of(events, 'tool.completed')).toMatchObject([
      { toolCallId: call?.['toolCallId'], status: 'ok', preview: answer },
    ]);
    const order = events.map(({ kind }) => kind);
    expect(order.indexOf('child.started')).toBeGreaterThan(order.indexOf('tool.started'));
    expect(order.indexOf('tool.completed')).toBeGreaterThan(order.indexOf('child.completed'));
  });

  it('is a namespace in lifecycle and custom, and a sub-agent in AG-UI', async () => {
    const run = await delegating([{ task: 'answer it', name: 'scout' }]);
    await world.rest.settled(run.run_id);
    const lifecycle = await leg(run, 'lifecycle');
    const entered = lifecycle.find(({ type }) => type === 'namespace.entered');
    expect(entered).toMatchObject({ data: { agent_id: `${run.run_id}.c1`, agent_name: 'scout' } });
    const call = (entered?.['data'] as { parent_tool_call_id?: string } | undefined)?.parent_tool_call_id;
    expect(call).toBeDefined();
    const spoken = lifecycle.filter(
      ({ type, namespace }) => type === 'text.delta' && (namespace as string[]).length > 0,
    );
    expect(new Set(spoken.map(({ namespace }) => (namespace as string[]).join()))).toEqual(new Set([call]));
    expect(lifecycle.find(({ type }) => type === 'namespace.exited')).toMatchObject({ data: { outcome: 'success' } });

    const custom = await leg(run, 'custom');
    expect(custom.filter(({ namespace }) => Array.isArray(namespace) && namespace[0] === call)).not.toEqual([]);
    const agUi = await leg(run, 'ag-ui');
    expect(agUi.find(({ type }) => type === 'SUBAGENT_STARTED')).toMatchObject({
      name: 'scout',
      parentToolCallId: call,
    });
    expect(agUi.find(({ type }) => type === 'SUBAGENT_FINISHED')).toMatchObject({ outcome: { type: 'success' } });
  });

  it('is a child workflow of the run in Temporal, without a word of the task in its history', async () => {
    const run = await delegating([{ task: 'answer the secret-riddle', name: 'secret-name' }]);
    await world.rest.settled(run.run_id);
    const child = temporal.workflow.getHandle(`${run.run_id}.c1`);
    const described = await child.describe();
    expect(described).toMatchObject({ type: 'subAgent', status: { name: 'COMPLETED' } });
    expect(described.parentExecution?.workflowId).toBe(run.run_id);
    expect(described.searchAttributes).toMatchObject({ TidemarkThread: [run.thread_id] });
    for (const { text } of [await historyOf(world.stack, run.run_id), await historyOf(world.stack, child.workflowId)])
      expect(text).not.toContain('secret-');
  });

  it('is no part of the conversation: the run’s model and that of the next run see its result alone', async () => {
    const run = await delegating([{ task: 'parallel looks' }]);
    await ended(run);
    const next = await world.rest.startRun('ANSWER what came of it', {}, run.thread_id);
    await world.rest.settled(next.run_id);
    const seen = world.model.conversations('what came of it').at(-1) ?? '';
    expect(seen).toContain('Both looks are over.');
    expect(seen).not.toContain('Two looks at once.');
    const child = world.model.conversations('PARALLEL looks').at(-1) ?? '';
    expect(child).toContain('Two looks at once.');
    expect(child).not.toContain('DELEGATE');
  });

  it('may have some of the tools, and never delegates further', async () => {
    const run = await delegating([
      { task: 'write a note', tools: ['list_files'] },
      { task: 'delegate [{"task":"answer it"}]' },
    ]);
    const events = await ended(run);
    expect(await written(run)).toBeNull();
    const refused = of(events, 'tool.completed').filter(({ error }) => String(error).startsWith('error: unknown tool'));
    expect(refused.map(({ error }) => error)).toEqual(
      expect.arrayContaining(['error: unknown tool: write_file', 'error: unknown tool: delegate']),
    );
    expect(of(events, 'child.started')).toHaveLength(2);
  });

  it('is bound by what the run may use', async () => {
    const settings = { denied_tools: ['write_file'] };
    const events = await ended(await delegating([{ task: 'write a note' }], { settings }));
    expect(of(events, 'tool.completed')[0]).toMatchObject({
      status: 'error',
      error: 'error: tool write_file is not allowed in this run',
    });
    const none = await ended(await delegating([{ task: 'answer it' }], { settings: { denied_tools: ['delegate'] } }));
    expect(of(none, 'child.started')).toEqual([]);
    expect(of(none, 'tool.completed')[0]?.['error']).toBe('error: tool delegate is not allowed in this run');
  });

  it('that asks for what is not there is answered with the reason, and begins nobody', async () => {
    const run = await delegating([
      { task: 'answer it', tools: ['teleport'] },
      { task: 'answer it', model: 'nowhere/model' },
      { task: 'answer it', nmae: 'scout' },
    ]);
    const events = await ended(run);
    expect(of(events, 'child.started')).toEqual([]);
    const [unknownTool, unknownModel, wrongField] = of(events, 'tool.completed')
      .toSorted((a, b) => String(a['toolCallId']).localeCompare(String(b['toolCallId'])))
      .map(({ error }) => error);
    expect(unknownTool).toMatch(/"teleport" cannot be given; there are list_files/);
    expect(unknownModel).toMatch(/there is no model "nowhere\/model"; leave it out/);
    expect(wrongField).toMatch(/invalid arguments for delegate: nmae/);
  });
});

describe('a sub-agent', () => {
  it('asks for approval as the run does: answered over REST, its tool runs and the run goes on', async () => {
    const run = await delegating([{ task: 'write it' }]);
    const [interrupt] = await world.rest.interruptOf(run.run_id);
    const id = interrupt?.interrupt_id ?? '';
    await world.rest.until('the run’s workflow shows it', async () =>
      (await detailsOf(run.run_id)).includes(id) ? true : null,
    );
    expect(await detailsOf(`${run.run_id}.c1`)).toContain(id);
    expect(await written(run)).toBeNull();
    expect((await world.rest.resolve(id, { decision: 'approve' })).status).toBe(200);
    const events = await ended(run);
    expect(await written(run)).toBe('from the model');
    const childId = `${run.run_id}.c1`;
    const own = saidBy(events, childId);
    expect(of(own, 'approval.requested')).toMatchObject([{ approvalId: id, toolName: 'write_file' }]);
    expect(of(own, 'approval.resolved')).toMatchObject([{ approvalId: id, decision: 'approve' }]);
    expect(of(own, 'child.updated')).toMatchObject([{ childId, state: { lastToolName: 'write_file' } }]);
    const paused = await leg(run, 'lifecycle');
    expect(paused.find(({ type }) => type === 'interrupt.requested')).toMatchObject({ data: { agent_id: childId } });
    expect(await detailsOf(run.run_id)).not.toContain(id);
  });

  it('is answered by a signal to the run’s workflow, too', async () => {
    const run = await delegating([{ task: 'write it' }]);
    const [interrupt] = await world.rest.interruptOf(run.run_id);
    const answer = { interrupt_id: interrupt?.interrupt_id, decision: 'approve' };
    await temporal.workflow.getHandle(run.run_id).signal('resolveInterrupt', answer);
    await ended(run);
    expect(await written(run)).toBe('from the model');
  });

  it('is answered by a signal to its own workflow, too', async () => {
    const run = await delegating([{ task: 'ask me' }]);
    const [interrupt] = await world.rest.interruptOf(run.run_id);
    const answer = { interrupt_id: interrupt?.interrupt_id, values: { answer: 'blue' } };
    await temporal.workflow.getHandle(`${run.run_id}.c1`).signal('resolveInterrupt', answer);
    const events = await ended(run);
    expect(of(events, 'question.resolved')).toMatchObject([{ answer: 'blue' }]);
  });

  it('that fails is an error result, and the run goes on', async () => {
    const run = await delegating([{ task: 'err401 at once' }]);
    const events = await ended(run);
    expect(of(events, 'child.completed')).toMatchObject([{ status: 'error' }]);
    const [completed] = of(events, 'tool.completed');
    expect(completed).toMatchObject({ status: 'error' });
    expect(completed?.['error']).toMatch(/^error: the sub-agent failed: /);
    expect(textOf(saidBy(events, undefined))).toContain('The delegated work is over.');
    expect((await leg(run, 'lifecycle')).find(({ type }) => type === 'namespace.exited')).toMatchObject({
      data: { outcome: 'error' },
    });
  });

  it('that does not end by itself reaches a limit of its own', async () => {
    const run = await delegating([{ task: 'loop along' }], { settings: { max_steps: 8 } });
    const events = await ended(run);
    expect(of(events, 'tool.completed').at(-1)?.['error']).toBe(
      'error: the sub-agent failed: it reached its limit of steps.',
    );
    expect(of(saidBy(events, `${run.run_id}.c1`), 'tool.completed')).toHaveLength(4);
  });

  it.each(['cancel', 'terminate'] as const)('that somebody ends alone in Temporal (%s) leaves the run', async (how) => {
    const run = await delegating([{ task: 'slow talk' }]);
    const childId = `${run.run_id}.c1`;
    await world.rest.until('it speaks', async () =>
      textOf(saidBy(await world.rest.events(run), childId)) === '' ? null : true,
    );
    const handle = temporal.workflow.getHandle(childId);
    await (how === 'cancel' ? handle.cancel() : handle.terminate());
    const events = await ended(run);
    expect(of(events, 'tool.completed').at(-1)?.['error']).toMatch(
      how === 'cancel' ? /^error: the sub-agent was stopped before it had ended/ : /its workflow was ended in Temporal/,
    );
    expect(textOf(saidBy(events, undefined))).toContain('The delegated work is over.');
    expect(
      saidBy(events, childId)
        .map(({ kind }) => kind)
        .slice(-2),
    ).toEqual(['message.completed', 'child.completed']);
    const { body } = await world.rest.send<{ data: { status: string; sub_agent_id: string | null }[] }>(
      'GET',
      `/v1/runs/${run.run_id}/steps`,
    );
    expect(body.data.map(({ status, sub_agent_id: agent }) => [agent, status])).toEqual([
      [null, 'completed'],
      [null, 'failed'],
      [null, 'completed'],
      [childId, 'cancelled'],
    ]);
  });
});

describe('a sub-agent that is ended in Temporal while it waits for a person', () => {
  it('takes its question back', async () => {
    const run = await delegating([{ task: 'write it' }, { task: 'ask me' }]);
    const interrupts = await world.rest.interruptOf(run.run_id, 2);
    await temporal.workflow.getHandle(`${run.run_id}.c1`).terminate();
    const left = await world.rest.until('one is taken back', async () => {
      const { pending_interrupts: pending } = await world.rest.run(run.run_id);
      return pending.length === 1 ? pending : null;
    });
    expect(left).toMatchObject([{ kind: 'question' }]);
    await world.rest.resolve(left[0]?.interrupt_id ?? '', { values: { answer: 'red' } });
    const events = await ended(run);
    const approval = interrupts.find(({ kind }) => kind === 'approval')?.interrupt_id;
    expect(of(events, 'approval.resolved')).toMatchObject([{ approvalId: approval, decision: 'cancelled' }]);
    expect(of(events, 'child.completed').map(({ status }) => status)).toEqual(['error', 'ok']);
    expect(await written(run)).toBeNull();
  });
});

describe('the demo model’s sub-agents', () => {
  it('may have another model than the run, and count to the usage of the run', async () => {
    const run = await world.rest.startRun('to both', { model: 'scripted/delegate' });
    const [interrupt] = await world.rest.interruptOf(run.run_id);
    await world.rest.resolve(interrupt?.interrupt_id ?? '', { decision: 'approve' });
    const events = await ended(run);
    const began = of(events, 'child.started').map(({ title, state }) => [title, (state as { model: string }).model]);
    expect(Object.fromEntries(began)).toEqual({ reader: 'scripted/text', writer: 'scripted/approval' });
    const { rows } = await world.stack.pool.query<{ input: number }>(
      `select sum((body::jsonb -> 'usage' ->> 'input')::int)::int as input from message
        where run_id = $1 and role = 'assistant'`,
      [run.run_id],
    );
    expect(of(events, 'usage.updated').at(-1)?.['inputTokens']).toBe(rows[0]?.input);
    const own = of(events, 'child.completed').map(({ state }) => (state as { usage: { inputTokens: number } }).usage);
    expect(own.every(({ inputTokens }) => inputTokens > 0)).toBe(true);
  });
});

describe('the histories of a run that delegates', () => {
  it('replay: the run’s, and those of its sub-agents, with what a person answered', async () => {
    const run = await delegating([{ task: 'ask me' }, { task: 'write it' }]);
    const asked = await world.rest.interruptOf(run.run_id, 2);
    for (const { interrupt_id: id, kind } of asked)
      await world.rest.resolve(id, kind === 'question' ? { values: { answer: 'red' } } : { decision: 'approve' });
    await world.rest.settled(run.run_id);
    Runtime.install({ logger: quiet, shutdownSignals: [] });
    const workflowBundle = { codePath: inject('workflowBundlePath') };
    for (const workflowId of [run.run_id, `${run.run_id}.c1`, `${run.run_id}.c2`]) {
      const handle = temporal.workflow.getHandle(workflowId);
      await handle.result();
      const history = await handle.fetchHistory();
      await expect(Worker.runReplayHistory({ workflowBundle }, history, workflowId)).resolves.toBeUndefined();
    }
  });
});

describe('several sub-agents', () => {
  it('of one message work side by side, and each is answered by itself', async () => {
    const run = await delegating([
      { task: 'ask me first', name: 'first' },
      { task: 'write it', name: 'second' },
      { task: 'talk along', name: 'third' },
    ]);
    const interrupts = await world.rest.interruptOf(run.run_id, 2);
    const asked = (kind: string) => interrupts.find((interrupt) => interrupt.kind === kind)?.interrupt_id ?? '';
    await world.rest.resolve(asked('approval'), { decision: 'approve' });
    await world.rest.until('the second has ended', async () => {
      const ends = of(await world.rest.events(run), 'child.completed');
      return ends.some(({ childId }) => childId === `${run.run_id}.c2`) ? true : null;
    });
    expect((await world.rest.run(run.run_id)).pending_interrupts).toHaveLength(1);
    await world.rest.resolve(asked('question'), { values: { answer: 'red' } });
    const events = await ended(run);
    expect(of(events, 'child.completed').map(({ status }) => status)).toEqual(['ok', 'ok', 'ok']);
    expect(textOf(saidBy(events, `${run.run_id}.c3`))).toContain('word49');
    expect(await written(run)).toBe('from the model');
  });

  it('all end with a run that is cancelled, whatever they are at', async () => {
    const run = await delegating([{ task: 'slow talk' }, { task: 'write it' }]);
    await world.rest.interruptOf(run.run_id);
    await world.rest.until('the other speaks', async () =>
      textOf(saidBy(await world.rest.events(run), `${run.run_id}.c1`)) === '' ? null : true,
    );
    await world.rest.send('POST', `/v1/runs/${run.run_id}/cancel`);
    const events = await ended(run, 'failed');
    expect((await world.rest.run(run.run_id)).stop_reason).toBe('cancelled');
    expect(await written(run)).toBeNull();
    expect(of(events, 'child.completed').map(({ status }) => status)).toEqual(['error', 'error']);
    const exits = (await leg(run, 'lifecycle', 2)).filter(({ type }) => type === 'namespace.exited');
    expect(exits.map(({ data }) => (data as { outcome: string }).outcome)).toEqual(['cancelled', 'cancelled']);
    for (const step of ['1', '2']) {
      const { status } = await temporal.workflow.getHandle(`${run.run_id}.c${step}`).describe();
      expect(status.name).not.toBe('RUNNING');
    }
  });

  it('are not more than a run may have: the rest is refused', async () => {
    const run = await delegating(Array.from({ length: 34 }, () => ({ task: 'err401 quickly' })));
    const events = await ended(run);
    expect(of(events, 'child.started')).toHaveLength(32);
    const refused = of(events, 'tool.completed').filter(({ error }) =>
      String(error).includes('has had its 32 sub-agents'),
    );
    expect(refused).toHaveLength(2);
  });
});
