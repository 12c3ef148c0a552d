import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { startStack, type Stack } from '../../infra/testing/stack.ts';
import { extensionConfig } from '../fixtures/extension-config.ts';
import { Rest, textOf, type Run } from '../fixtures/rest.ts';

interface Called {
  readonly result: unknown;
  readonly events: readonly { readonly type: string }[];
}
interface Listed {
  readonly data: readonly {
    readonly name: string;
    readonly error: string | null;
    readonly records: readonly { kind: string; name: string }[];
  }[];
}

const MODEL = 'rules/refunds';
let stack: Stack;
let rest: Rest;
let probe: string;

beforeAll(async () => {
  probe = join(await mkdtemp(join(inject('scratch'), 'probe-')), 'probe.mjs');
  await writeFile(probe, PROBE.replace('VERSION', 'one'));
  stack = await startStack({
    env: {
      TIDEMARK_CONFIG: await extensionConfig([
        'examples/extension-tool/refunds.ts',
        { module: 'examples/extension-policy/refund-policy.ts', options: { mostCents: 500 } },
        'examples/extension-provider/rules.ts',
        probe,
        join(probe, 'missing.mjs'),
      ]),
    },
  });
  rest = new Rest(stack.url);
  // a worker tells what it has loaded when it is ready
  await rest.until('the catalog', async () => {
    const { status, body } = await rest.send<Listed>('GET', '/v1/extensions');
    return status === 200 ? body : null;
  });
});
afterAll(async () => await stack?.stop());

const ledgerOf = async ({ thread_id: threadId }: Run): Promise<string> =>
  await readFile(join(stack.home, 'workspaces', threadId, 'ledger.txt'), 'utf8');
const resultsOf = async (run: Run) => (await rest.events(run)).filter(({ kind }) => kind === 'tool.completed');

describe('an extension’s tool', () => {
  it('waits for its approval, runs once, and its result goes back to the extension’s own model', async () => {
    const run = await rest.startRun('refund 250 for A-17', { model: MODEL });
    const [interrupt] = await rest.interruptOf(run.run_id);
    expect(interrupt).toMatchObject({ tool_name: 'refund_order', prompt: 'Refund: {"order":"A-17","cents":250}' });
    expect((await rest.resolve(interrupt?.interrupt_id ?? '', { decision: 'approve' })).status).toBe(200);
    expect((await rest.settled(run.run_id)).status).toBe('completed');
    expect(await ledgerOf(run)).toBe('A-17 250\n');
    expect(textOf(await rest.events(run))).toBe('I will see to it.Done. Refunded 250 cents for order A-17.');
  });

  it('is not told to a model whose run may not use it, and refused if it is called', async () => {
    for (const settings of [{ denied_tools: ['refund_order'] }, { allowed_tools: ['read_file'] }]) {
      const run = await rest.startRun('refund 250 for A-18', { model: MODEL, settings });
      expect((await rest.settled(run.run_id)).status).toBe('completed');
      expect(await resultsOf(run)).toMatchObject([
        { status: 'error', error: 'error: tool refund_order is not allowed in this run' },
      ]);
    }
  });
});

describe('a hook', () => {
  it('blocks a call before anybody is asked, and the model is told why', async () => {
    const run = await rest.startRun('refund 501 for A-19', { model: MODEL });
    expect((await rest.settled(run.run_id)).status).toBe('completed');
    const error = 'error: tool refund_order blocked: a refund is 500 cents at most';
    expect(await resultsOf(run)).toMatchObject([{ status: 'error', error }]);
    const { rows } = await stack.pool.query('select 1 from interrupt where run_id = $1', [run.run_id]);
    expect(rows).toEqual([]);
  });

  it('is asked again about the arguments that a person has edited', async () => {
    const run = await rest.startRun('refund 100 for A-20', { model: MODEL });
    const [interrupt] = await rest.interruptOf(run.run_id);
    const edited = { decision: 'edit', edited_args: { order: 'A-20', cents: 100_000 } };
    expect((await rest.resolve(interrupt?.interrupt_id ?? '', edited)).status).toBe(200);
    expect((await rest.settled(run.run_id)).status).toBe('completed');
    expect(await resultsOf(run)).toMatchObject([
      { status: 'error', error: expect.stringContaining('blocked') as string },
    ]);
    await expect(ledgerOf(run)).rejects.toThrow('ENOENT');
  });

  it('that throws blocks the call, and the run says whose it is', async () => {
    const run = await rest.startRun('refund 13 for A-21', { model: MODEL });
    expect((await rest.settled(run.run_id)).status).toBe('completed');
    expect(await resultsOf(run)).toMatchObject([
      { error: 'error: tool refund_order blocked: policy hook failed: thirteen is unlucky' },
    ]);
    const warnings = (await rest.events(run)).filter(({ kind }) => kind === 'harness.warning');
    expect(warnings).toMatchObject([
      { code: 'extension_error', message: expect.stringContaining('thirteen is unlucky') as string },
    ]);
  });

  it('is asked once about a call, however often the run is looked at while it waits', async () => {
    const before = await asked();
    const run = await rest.startRun('refund 77 for A-22', { model: MODEL });
    const [interrupt] = await rest.interruptOf(run.run_id);
    for (let i = 0; i < 3; i++) await rest.send('GET', `/v1/runs/${run.run_id}`);
    await rest.resolve(interrupt?.interrupt_id ?? '', { decision: 'approve' });
    expect((await rest.settled(run.run_id)).status).toBe('completed');
    expect((await asked()) - before).toBe(1);
  });

  /** How many calls of 77 cents the probe’s hook has seen. */
  async function asked(): Promise<number> {
    return (await probed()).asked;
  }
});

describe('the bus', () => {
  it('has every event of a run in the contract’s order', async () => {
    const run = await rest.startRun('refund 600 for A-23', { model: MODEL });
    await rest.settled(run.run_id);
    const heard = await rest.until('the end of the run on the bus', async () => {
      const { heard: events } = await probed();
      return events.includes(`agent-shutdown ${run.run_id}`) ? events : null;
    });
    const own = heard.slice(
      heard.indexOf(`agent-started ${run.run_id}`),
      heard.indexOf(`agent-shutdown ${run.run_id}`) + 1,
    );
    const call = ['llm-start', 'start', 'text-start', 'text-delta', 'assistant-text-delta', 'text-end'];
    const end = ['done', 'assistant-stream-end', 'assistant-text', 'llm-end', `message-appended ${run.run_id}`];
    expect(own).toEqual([
      ...[`agent-started ${run.run_id}`, 'user', `message-appended ${run.run_id}`],
      ...[...call, 'tool-call-start', 'tool-call-end', ...end],
      ...['tool-result', `message-appended ${run.run_id}`],
      ...[...call, ...end],
      ...[`agent-turn-complete ${run.run_id}`, `agent-shutdown ${run.run_id}`],
    ]);
  });

  it('says which sub-agent of a run it is about', async () => {
    const run = await rest.startRun('delegate it', { model: 'scripted/delegate' });
    const [interrupt] = await rest.interruptOf(run.run_id);
    await rest.resolve(interrupt?.interrupt_id ?? '', { decision: 'approve' });
    expect((await rest.settled(run.run_id)).status).toBe('completed');
    const { heard } = await probed();
    expect(heard).toContain(`message-appended ${run.run_id}.c1`);
    expect(heard.filter((event) => event === `agent-started ${run.run_id}`)).toHaveLength(1);
  });
});

describe('over REST', () => {
  it('extensions are listed, with what failed to load and why', async () => {
    const { body } = await rest.send<Listed>('GET', '/v1/extensions');
    const byName = new Map(body.data.map((extension) => [extension.name.split('/').at(-1), extension]));
    expect(byName.get('refunds.ts')?.records).toMatchObject([{ kind: 'tool', name: 'refund_order' }]);
    expect(byName.get('missing.mjs')?.error).toMatch(/ENO/);
    expect(byName.get('engine')).toMatchObject({ first_party: true, error: null });
    const { body: engines } = await rest.send<{ data: { models: string[] }[] }>('GET', '/v1/engines');
    expect(engines.data[0]?.models).toContain('rules/*');
  });

  it('a command answers with its result and what it emitted; status and panels are read', async () => {
    const { thread_id: thread } = await finished();
    const { status, body } = await rest.send<Called>('POST', `/v1/threads/${thread}/commands/policy`, {});
    expect([status, body]).toEqual([
      200,
      {
        result: 'A refund is 500 cents at most.',
        events: [{ type: 'info', text: 'The policy is in tidemark.config.ts.' }],
      },
    ]);
    const statuses = await rest.send('GET', `/v1/threads/${thread}/status`);
    expect(statuses.body).toEqual({
      data: [
        { name: 'model', order: 0, text: MODEL },
        { name: 'policy', order: 50, text: 'refunds up to 500' },
      ],
    });
    const panels = await rest.send('GET', `/v1/threads/${thread}/panels`);
    // the one that throws is left out, the one that is not enabled too
    expect(panels.body).toEqual({ data: [{ name: 'words', title: 'words', rows: ['one'] }] });
  });

  it.each([
    ['commands/nothing', 404, 'extension_unknown'],
    ['commands/throws', 502, 'extension_failed'],
    ['commands/huge', 502, 'extension_failed'],
    ['controls/nothing', 404, 'extension_unknown'],
  ])('%s is %i %s', async (path, status, code) => {
    const { thread_id: thread } = await finished();
    const answer = await rest.send('POST', `/v1/threads/${thread}/${path}`, {});
    expect([answer.status, answer.body.code]).toEqual([status, code]);
    expect(answer.body.remedy).not.toBe('');
  });

  it('a command for an idle thread is refused while a run has the turn, and a control stops that run', async () => {
    const run = await rest.startRun('refund 5 for A-24', { model: MODEL });
    await rest.interruptOf(run.run_id);
    const busy = await rest.send('POST', `/v1/threads/${run.thread_id}/commands/idle`, {});
    expect([busy.status, busy.body.code]).toEqual([409, 'thread_busy']);
    const stopped = await rest.send<Called>('POST', `/v1/threads/${run.thread_id}/controls/cancel`, {});
    expect(stopped.body.result).toEqual({ cancelled: true, runId: run.run_id });
    expect(await rest.settled(run.run_id)).toMatchObject({ status: 'failed', stop_reason: 'cancelled' });
    const idle = await rest.send<Called>('POST', `/v1/threads/${run.thread_id}/commands/idle`, {});
    expect(idle.body.result).toBe('idle');
  });

  it('a command can start a run in its thread', async () => {
    const { thread_id: thread } = await finished();
    const { body } = await rest.send<{ result: { runId: string } }>('POST', `/v1/threads/${thread}/commands/again`, {
      args: 'and again',
    });
    expect(await rest.settled(body.result.runId)).toMatchObject({ status: 'completed', thread_id: thread });
  });

  it('a login goes to its auth backend, and what cannot log in says so', async () => {
    const login = await rest.send<Called>('POST', '/v1/auth-backends/vault/login', { options: { user: 'ada' } });
    expect(login.body.result).toBe('hello ada');
    const logout = await rest.send('POST', '/v1/auth-backends/vault/logout', {});
    expect([logout.status, logout.body.code]).toEqual([404, 'extension_unknown']);
  });

  it('a thread that is not there has no commands', async () => {
    const { status, body } = await rest.send('POST', '/v1/threads/thr_nothing/commands/help', {});
    expect([status, body.code]).toEqual([404, 'thread_not_found']);
  });

  it('/reload loads what has changed anew', async () => {
    const { thread_id: thread } = await finished();
    await writeFile(probe, PROBE.replace('VERSION', 'two'));
    expect((await rest.send('POST', `/v1/threads/${thread}/commands/reload`, {})).status).toBe(200);
    await rest.until('the new panel', async () => {
      const { body } = await rest.send<{ data: { rows: string[] }[] }>('GET', `/v1/threads/${thread}/panels`);
      return body.data[0]?.rows[0] === 'two' ? body : null;
    });
  });
});

async function finished(): Promise<Run> {
  const run = await rest.startRun('hello', { model: MODEL });
  return await rest.settled(run.run_id);
}

async function probed(): Promise<{ asked: number; heard: string[] }> {
  const { body } = await rest.send<{ data: { name: string; snapshot: { asked: number; heard: string[] } }[] }>(
    'GET',
    '/v1/introspect',
  );
  return body.data.find(({ name }) => name === 'probe')?.snapshot ?? { asked: 0, heard: [] };
}

/** An extension that looks at everything, and misbehaves where it is asked to. */
const PROBE = `
export default (api) => {
  let asked = 0;
  const heard = [];
  api.on('*', (event) => {
    heard.push(event.agent === undefined ? event.type : event.type + ' ' + (event.agent.subAgent ?? event.agent.runId));
  });
  api.register('hook', {
    beforeTool(name, args) {
      if (args.cents === 13) throw new Error('thirteen is unlucky');
      if (args.cents === 77) asked++;
      args.cents = 1_000_000;
    },
  });
  api.register('introspect', { name: 'probe', snapshot: () => ({ asked, heard }) });
  api.register('introspect', { name: 'broken', snapshot: () => { throw new Error('no snapshot'); } });
  api.register('panel', { name: 'words', render: () => ['VERSION'] });
  api.register('panel', { name: 'hidden', enabled: () => false, render: () => { throw new Error('rendered'); } });
  api.register('panel', { name: 'broken', render: () => { throw new Error('no panel'); } });
  api.register('command', { name: 'throws', handler: () => { throw new Error('no command'); } });
  api.register('command', { name: 'huge', handler: () => 'x'.repeat(300 * 1024) });
  api.register('command', { name: 'idle', idleOnly: true, handler: () => 'idle' });
  api.register('command', { name: 'again', handler: (args, caller) => caller.submit(args) });
  api.register('auth-backend', { name: 'vault', apiKey: () => 'key', login: ({ user }) => 'hello ' + user });
};
`;
