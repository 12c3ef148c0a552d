import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LLMock } from '@copilotkit/aimock';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readProcesses } from '../../activities/engines/process/process-table.ts';
import type { ArtifactRef } from '../../contract/canonical.ts';
import { startStack, type Stack } from '../../infra/testing/stack.ts';
import { kindsOf, Rest, textOf, type Run, type SaidEvent } from '../fixtures/rest.ts';

/** What the model asks for when a prompt holds the word; then it says that it is done. */
const CALLS: Readonly<Record<string, readonly (readonly [tool: string, args: object])[]>> = {
  COUNT: [['shell', { command: 'seq 1 20000; echo counted >&2' }]],
  STEPS: [
    ['shell', { command: 'sleep 0.5; echo first >> order; exit 3' }],
    ['shell', { command: 'echo second >> order; cat order' }],
  ],
  REPORT: [
    ['update_plan', { entries: [{ text: 'write the report', status: 'in_progress' }] }],
    ['save_artifact', { text: 'a,b\n1,2\n', name: 'report.csv' }],
  ],
  BINARY: [['shell', { command: String.raw`printf 'a\0b\377\033[31mred'; env | grep -c canary` }]],
  FOREVER: [['shell', { command: 'echo begun >> begun; sleep 600 & sleep 600' }]],
};

const mock = new LLMock({ port: 0, logLevel: 'silent' });
let stack: Stack;
let rest: Rest;

beforeAll(async () => {
  for (const [word, calls] of Object.entries(CALLS)) {
    const toolCalls = calls.map(([name, args], i) => ({
      id: `${word}-${String(i)}`,
      name,
      arguments: JSON.stringify(args),
    }));
    const ends = calls.map((_, i) => `${word}-${String(i)}`);
    for (const id of ends) mock.onToolResult(id, { content: `${word} is done.` });
    mock.onMessage(word, { toolCalls });
  }
  await mock.start();
  stack = await startStack({
    env: {
      OPENAI_API_KEY: 'sk-canary-key',
      OPENAI_BASE_URL: `${mock.url}/v1`,
      OPENAI_MODEL: 'scripted',
      // a worker that stops does not wait for a command
      TIDEMARK_HANDOVER_SECONDS: '1',
    },
  });
  rest = new Rest(stack.url);
});
afterAll(async () => {
  await stack?.stop();
  await mock.stop();
});

/** Starts a run that asks for a person's word on a command, and gives it. */
async function approved(prompt: string): Promise<{ run: Run; operation: string }> {
  const run = await rest.startRun(prompt);
  const [asked] = await rest.interruptOf(run.run_id);
  expect((await rest.resolve(asked?.interrupt_id ?? '', { decision: 'approve' })).status).toBe(200);
  return { run, operation: asked?.prompt ?? '' };
}

async function download(artifactId = '') {
  const res = await fetch(`${stack.url}/v1/artifacts/${artifactId}`);
  return { status: res.status, type: res.headers.get('content-type'), text: await res.text() };
}

/** What the model is told of the run's calls. */
async function results({ run_id: runId }: Pick<Run, 'run_id'>): Promise<string[]> {
  const { rows } = await stack.pool.query<{ body: string }>(
    `select body from message where run_id = $1 and role = 'tool-result' order by step_index`,
    [runId],
  );
  return rows.map(({ body }) => (JSON.parse(body) as { content: { text: string }[] }).content[0]?.text ?? '');
}

const told = (events: readonly SaidEvent[], kind: string) => events.filter((event) => event.kind === kind);
const artifactOf = (event?: SaidEvent) => event?.['artifact'] as ArtifactRef | undefined;

async function verified({ run_id: runId }: Pick<Run, 'run_id'>): Promise<boolean> {
  return (await rest.send<{ holds: boolean }>('GET', `/v1/runs/${runId}/verify`)).body.holds;
}

/** The commands of a run that are still there. */
async function processesOf({ run_id: runId }: Pick<Run, 'run_id'>): Promise<number[]> {
  return (await readProcesses()).filter(({ mark }) => mark?.startsWith(`${runId}.`) ?? false).map(({ pid }) => pid);
}

/** Waits until the command of a run has begun to work. */
async function begun(run: Run): Promise<string> {
  const place = join(stack.home, 'workspaces', run.thread_id, 'begun');
  return await rest.until('the command works', async () => await readFile(place, 'utf8').catch(() => null));
}

describe('a command', () => {
  it('waits for a person; its output is shown, kept whole, and told to the model by its ends', async () => {
    const { run, operation } = await approved('COUNT now');
    expect(operation).toBe('Run: seq 1 20000; echo counted >&2');
    const settled = await rest.settled(run.run_id);
    expect(settled.status).toBe('completed');

    const events = await rest.events(run);
    const [started] = told(events, 'tool.started');
    const output = told(events, 'terminal.output');
    const whole = `${Array.from({ length: 20_000 }, (_, i) => String(i + 1)).join('\n')}\ncounted\n`;
    expect(output.map(({ chunk }) => chunk).join('')).toBe(whole);
    expect(new Set(output.map(({ terminalId }) => terminalId))).toEqual(new Set([started?.['toolCallId']]));

    const [completed] = told(events, 'tool.completed');
    expect(completed).toMatchObject({ status: 'ok', preview: expect.stringMatching(/^exit code 0\n1\n2\n/) as string });
    expect(await download(artifactOf(completed)?.artifactId)).toEqual({
      status: 200,
      type: 'text/plain; charset=utf-8',
      text: whole,
    });
    const [result = ''] = await results(run);
    expect(result).toMatch(/^exit code 0\n1\n.+characters are left out here.+20000\ncounted\n$/s);
    expect(textOf(events)).toBe('COUNT is done.');
    expect(await verified(run)).toBe(true);
  });

  it('that fails is an error with its code; commands of one message run one after another', async () => {
    const run = await rest.startRun('STEPS please');
    for (const { interrupt_id: id } of await rest.interruptOf(run.run_id, 2))
      await rest.resolve(id, { decision: 'approve' });
    await rest.settled(run.run_id);
    expect(await results(run)).toEqual(['error: exit code 3\n(it printed nothing)', 'exit code 0\nfirst\nsecond\n']);
    const completed = told(await rest.events(run), 'tool.completed');
    expect(completed.map(({ status }) => status)).toEqual(['error', 'ok']);
  });

  it('may print what it likes, and does not see the worker’s keys', async () => {
    const { run } = await approved('BINARY output');
    await rest.settled(run.run_id);
    const printed = 'a\0b\uFFFD\u001B[31mred0\n';
    expect(await results(run)).toEqual([`error: exit code 1\n${printed}`]);
    expect(told(await rest.events(run), 'terminal.output').map(({ chunk }) => chunk)).toEqual([printed]);
    expect(await verified(run)).toBe(true);
  });

  it('is ended with all that it started when its run is cancelled', async () => {
    const { run } = await approved('FOREVER and ever');
    await begun(run);
    expect((await processesOf(run)).length).toBeGreaterThan(1);
    await rest.send('POST', `/v1/runs/${run.run_id}/cancel`);
    expect(await rest.settled(run.run_id)).toMatchObject({ stop_reason: 'cancelled' });
    expect(await processesOf(run)).toEqual([]);
    expect(await verified(run)).toBe(true);
  });

  it('that its worker has no time to wait for is ended, not run again, and the model is told so', async () => {
    const { run } = await approved('FOREVER until the deploy');
    await begun(run);
    await stack.startWorker();
    await stack.workers[0]?.end();
    expect(await processesOf(run)).toEqual([]);
    expect((await rest.settled(run.run_id)).status).toBe('completed');
    expect(await begun(run)).toBe('begun\n');
    expect(await results(run)).toEqual([expect.stringMatching(/^error: the worker was stopped during this call/)]);
    expect(await verified(run)).toBe(true);
  }, 120_000);

  it('whose worker is killed goes with it, is not run again, and the model is told so', async () => {
    const { run } = await approved('FOREVER until the crash');
    await begun(run);
    await stack.workers.at(-1)?.kill('SIGKILL');
    await stack.startWorker();
    expect((await rest.settled(run.run_id)).status).toBe('completed');
    expect(await begun(run)).toBe('begun\n');
    expect(await results(run)).toEqual([expect.stringMatching(/outcome is unknown: it may have taken effect/)]);
    await rest.until('its processes are gone', async () => ((await processesOf(run)).length === 0 ? true : null));
    expect(await verified(run)).toBe(true);
  }, 120_000);
});

it('a plan is shown, and an artifact that the model made can be downloaded', async () => {
  const run = await rest.startRun('REPORT it');
  expect((await rest.settled(run.run_id)).status).toBe('completed');
  const events = await rest.events(run);
  expect(told(events, 'plan.updated')).toMatchObject([
    { entries: [{ id: expect.any(String) as string, text: 'write the report', status: 'in_progress' }] },
  ]);
  expect(kindsOf(events)).toContain('artifact.created');
  const [created] = told(events, 'artifact.created');
  const { artifactId = '' } = artifactOf(created) ?? {};
  expect(created).toMatchObject({ name: 'report.csv', artifact: { contentType: 'text/csv; charset=utf-8', bytes: 8 } });
  expect(await download(artifactId)).toEqual({ status: 200, type: 'text/csv; charset=utf-8', text: 'a,b\n1,2\n' });
  expect(await results(run)).toEqual([
    'the plan is shown: 1 in progress',
    `kept report.csv as artifact ${artifactId} (8 bytes)`,
  ]);
  expect(await verified(run)).toBe(true);
});
