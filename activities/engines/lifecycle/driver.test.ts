import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { EngineSettings, type EngineSettingsOf } from '../../../infra/engine-settings.ts';
import type { LifecycleBody } from '../../../contract/lifecycle.ts';
import { envelope, scripted, turnOf } from './driver-testkit.ts';
import { modulePeer } from './module-peer.ts';
import type { AdapterPeer } from './peer.ts';
import { remotePeer } from './remote-peer.ts';

const EXAMPLES = join(import.meta.dirname, '..', '..', '..', 'examples');
const CANARY = 'sk-canary-9471';

function settingsOf(more: object = {}): EngineSettingsOf<'lifecycle'> {
  return EngineSettings.parse({ kind: 'lifecycle', ...more }) as EngineSettingsOf<'lifecycle'>;
}

async function pythonService(): Promise<AdapterPeer> {
  const service = spawn('python3', [join(EXAMPLES, 'lifecycle-service-python', 'service.py'), '0']);
  onTestFinished(async () => {
    service.kill('SIGKILL');
    if (service.exitCode === null && service.signalCode === null) await once(service, 'exit');
  });
  const [line] = (await once(service.stdout, 'data')) as [Buffer];
  return remotePeer('calculator', /http:\S+/.exec(line.toString())?.[0] ?? '', settingsOf());
}

const moduleAdapter = (): Promise<AdapterPeer> =>
  Promise.resolve(modulePeer('calculator', join(EXAMPLES, 'lifecycle-module', 'calculator.ts')));

describe.each([
  ['a module', moduleAdapter],
  ['a service in Python', pythonService],
])('an adapter that is %s', (_, start) => {
  it('asks before its tool runs, and goes on with the answer in the same turn', async () => {
    const turn = turnOf(await start());
    expect(await turn.run('what is 12 * 7?')).toEqual({ outcome: 'completed', stopReason: 'end_turn' });
    expect(turn.asked).toMatchObject([
      {
        kind: 'approval',
        toolName: 'multiply',
        arguments: { factors: [12, 7] },
        options: ['approve', 'edit', 'reject'],
      },
    ]);
    expect(JSON.stringify(turn.frames)).toContain('"result":"84"');
    const ids = new Set(turn.frames.map((frame) => frame['run_id']));
    expect([...ids]).toEqual(['run_1', 'run_1.2']);
  });

  it('takes edited arguments, and a no', async () => {
    const edited = turnOf(await start(), () => ({ status: 'edited', arguments: { factors: [2, 3] } }));
    await edited.run('12 * 7');
    expect(JSON.stringify(edited.frames)).toContain('"result":"6"');
    const rejected = turnOf(await start(), () => ({ status: 'rejected', message: 'no' }));
    expect(await rejected.run('12 * 7')).toMatchObject({ outcome: 'completed' });
    expect(rejected.frames.map(({ type }) => type)).toContain('tool.error');
  });

  it('is cancelled while it waits for a person', async () => {
    const turn = turnOf(await start(), () => ({ status: 'cancelled' }));
    expect(await turn.run('12 * 7')).toEqual({ outcome: 'cancelled' });
  });
});

const started: LifecycleBody = { type: 'run.started', data: { harness_id: 'h', adapter_version: '1' } };
const finished: LifecycleBody = { type: 'run.finished', data: { outcome: 'success', stop_reason: 'end_turn' } };
const delta: LifecycleBody = { type: 'text.delta', data: { message_id: 'm', delta: CANARY } };
const tool: LifecycleBody = { type: 'tool.started', data: { tool_call_id: CANARY, tool_name: 't', arguments: {} } };
const result: LifecycleBody = { type: 'tool.finished', data: { tool_call_id: CANARY, result: CANARY } };
const error: LifecycleBody = {
  type: 'tool.error',
  data: { tool_call_id: CANARY, code: 'x', message: CANARY, retryable: false },
};
const ask: LifecycleBody = {
  type: 'interrupt.requested',
  data: {
    interrupt_id: 'i',
    interrupt_type: 'form_input',
    agent_id: 'a',
    prompt: 'p',
    fields: [{ field_name: 'f', field_type: 'text', required: true }],
  },
};
const paused: LifecycleBody = { type: 'run.interrupted', data: { interrupt_id: CANARY, reason: 'human_input' } };
const uncertain: LifecycleBody = {
  type: 'run.finished',
  data: {
    outcome: 'success',
    stop_reason: CANARY,
    thread_state: { durability: 'uncertain', durable_revision: 1, head_ref: CANARY },
  },
};
const entered: LifecycleBody = {
  type: 'namespace.entered',
  data: { agent_id: CANARY, agent_name: CANARY, parent_tool_call_id: 'none' },
};
const left: LifecycleBody = {
  type: 'namespace.exited',
  data: { agent_id: CANARY, parent_tool_call_id: 'none', outcome: 'success' },
};
const whole = (...bodies: LifecycleBody[]): unknown[] => bodies.map((body, i) => envelope(body, i));
const long: LifecycleBody = { type: 'warning', data: { code: 'w', message: CANARY.repeat(200) } };

describe('an adapter that breaks lifecycle v1', () => {
  it.each<[string, number | null, unknown[]]>([
    ['repeats a sequence', 1, [envelope(started, 0), envelope(delta, 0)]],
    ['speaks before run.started', 2, [envelope(delta, 0)]],
    ['answers for another run', 2, [{ ...envelope(started, 0), run_id: CANARY }]],
    ['ends twice', 3, whole(started, finished, finished)],
    ['speaks after its end', 4, whole(started, finished, delta)],
    ['extends a text that is not open', 5, whole(started, delta)],
    ['finishes a tool that is not open', 6, whole(started, result)],
    ['fails a tool that has finished', 7, whole(started, tool, result, error)],
    ['goes on after an interrupt', 8, whole(started, ask, tool)],
    ['leaves a namespace that it is not in', 9, [envelope(started, 0), envelope(left, 1, [CANARY])]],
    ['enters a namespace that no call delegated to', 10, [envelope(started, 0), envelope(entered, 1, [CANARY])]],
    ['passes a limit', 11, whole(started, long)],
    ['pauses for what it did not ask', 14, whole(started, ask, paused)],
    ['finishes with a state that is not committed', 15, whole(started, uncertain)],
    ['has an unknown field', null, [envelope(started, 0), { ...envelope(finished, 1), [CANARY]: CANARY }]],
    ['has an unknown type', null, [envelope(started, 0), { ...envelope(finished, 1), type: CANARY }]],
    ['says what is no object', null, [envelope(started, 0), CANARY]],
    [
      'says a number that JSON cannot',
      null,
      [envelope(started, 0), { ...envelope(finished, 1), sequence: Number.NaN }],
    ],
  ])('and %s is ended by the rule, and nothing of what it sent is shown or logged', async (_, rule, events) => {
    const { peer, seen } = scripted([...events, envelope(delta, 90), envelope(delta, 91)]);
    const turn = turnOf(peer, () => ({ status: 'dismissed' }));
    const end = await turn.run('go');
    expect(end).toMatchObject({ outcome: 'failed', code: 'harness_event_invalid' });
    expect(end).toMatchObject({ message: expect.stringMatching(/correlation id ref_[0-9a-f]{16}/) as string });
    const refused = turn.frames.at(-1);
    expect(refused).toMatchObject({ type: 'refused', rule });
    expect(JSON.stringify([end, refused, turn.logged])).not.toContain(CANARY);
    await expect.poll(() => seen.isReturned).toBe(true);
    expect(seen.cancelled).toEqual(['run_1']);
  });

  it('and closes without an end is an error of its own', async () => {
    const turn = turnOf(scripted(whole(started)).peer);
    expect(await turn.run('go')).toMatchObject({ outcome: 'failed', code: 'harness_stream_closed' });
  });

  it('and throws shows and logs nothing of the error', async () => {
    const { peer } = scripted([]);
    const throwing: AdapterPeer = {
      ...peer,
      async *stream() {
        yield envelope(started, 0);
        throw new Error(CANARY);
      },
    };
    const turn = turnOf(throwing);
    const end = await turn.run('go');
    expect(end).toMatchObject({ outcome: 'failed', code: 'engine_failed' });
    expect(JSON.stringify([end, turn.frames, turn.logged])).not.toContain(CANARY);
  });

  it('and keeps sessions without committing them is not believed that it finished', async () => {
    const turn = turnOf(scripted(whole(started, finished), { capabilities: { resume: true } }).peer);
    expect(await turn.run('go')).toMatchObject({ outcome: 'failed', code: 'thread_durability_uncertain' });
  });

  it('and never yields again is abandoned when the driver is closed', async () => {
    const { peer } = scripted([]);
    const hung: AdapterPeer = {
      ...peer,
      async *stream() {
        yield envelope(started, 0);
        await new Promise(() => undefined);
      },
    };
    const turn = turnOf(hung);
    const end = turn.run('go');
    await expect.poll(() => turn.frames.length).toBe(1);
    turn.cancel.abort();
    await turn.driver.close();
    expect(await end).toEqual({ outcome: 'cancelled' });
  });
});

describe('a service', () => {
  async function serviceOf(answer: Parameters<typeof createServer>[1]): Promise<string> {
    const server = createServer(answer as never);
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  }

  it('is read as SSE too, with its bytes cut anywhere', async () => {
    const url = await serviceOf((req, res) => {
      if (req.method === 'GET') return void res.writeHead(404).end();
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      const text: LifecycleBody = { type: 'text.started', data: { message_id: 'm', role: 'assistant' } };
      const said: LifecycleBody = { type: 'text.delta', data: { message_id: 'm', delta: 'é😀' } };
      const body = whole(started, text, said, finished).map(
        (event) => `event: e\r\ndata: ${JSON.stringify(event)}\r\n\r\n`,
      );
      for (const byte of Buffer.from(`:hello\r\n\r\n${body.join('')}`)) res.write(Buffer.from([byte]));
      res.end();
    });
    const turn = turnOf(remotePeer('s', url, settingsOf()));
    expect(await turn.run('go')).toEqual({ outcome: 'completed', stopReason: 'end_turn' });
    expect(JSON.stringify(turn.frames)).toContain('é😀');
  });

  it('that redirects is refused, and what its headers hold goes nowhere else', async () => {
    const reached: string[] = [];
    const other = await serviceOf((req, res) => {
      reached.push(req.url ?? '');
      res.end();
    });
    const url = await serviceOf((_req, res) => void res.writeHead(307, { location: other }).end());
    const turn = turnOf(
      remotePeer('s', url, settingsOf({ headers: { authorization: 'Bearer $KEY' }, env: { KEY: CANARY } })),
    );
    await expect(turn.run('go')).rejects.toMatchObject({ code: 'engine_unavailable' });
    expect(reached).toEqual([]);
  });

  it('is not given a variable that its settings do not name', async () => {
    const url = await serviceOf((_req, res) => void res.end());
    expect(() => remotePeer('s', url, settingsOf({ headers: { authorization: '$HOME' } }))).toThrow(/HOME/);
  });
});
