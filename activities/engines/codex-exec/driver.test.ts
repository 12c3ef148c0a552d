import { mkdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { TidemarkError } from '../../../contract/errors.ts';
import { cleared, faultOf } from '../driver-testkit.ts';
import { ENDS_WITHIN_MS, stage, turn, type Stage } from './driver-testkit.ts';
import { CODEX_EXEC_PROTOCOL_VERSION } from './negotiated.ts';

afterEach(cleared);

describe('a turn', () => {
  test('gives what was told and every event in order, and its end when the engine says so', async () => {
    const at = await stage();
    const end = await turn(at, 'thought hm\ntool 10\ntext hello');
    expect(end).toEqual({ outcome: 'completed', stopReason: 'end_turn' });
    expect(at.types()).toEqual([
      ...['exec', 'thread.started', 'turn.started', 'item.completed'],
      ...['item.started', 'item.completed', 'item.completed', 'turn.completed'],
    ]);
    expect(at.frame('exec')).toMatchObject({ dir: 'send', params: { threadId: null, input: expect.any(String) } });
    expect(at.expected).toEqual(['tool', 'model']);
  });

  test('of a long answer loses nothing of it', async () => {
    const at = await stage();
    await turn(at, 'long 9001');
    const pieces = at.frames
      .filter(({ type }) => type === 'item.text')
      .map(({ params }) => params as { piece: string });
    expect(pieces.map(({ piece }) => piece).join('')).toBe('x'.repeat(9_001));
    expect(at.frame('item.completed')).toMatchObject({ inPieces: true });
  });

  test('that fails says why, without the address of the model server', async () => {
    const at = await stage();
    const end = await turn(
      at,
      'retry Overloaded\nfail Overloaded, url: http://127.0.0.1:4103/v1/responses, request id: r1',
    );
    expect(end).toEqual({ outcome: 'failed', code: 'engine_failed', message: 'Overloaded, request id: r1' });
  });

  test('that the engine gave up without a last event fails with its last error', async () => {
    const at = await stage();
    const end = await turn(at, 'error the quota is used up\nretry once more\nexit 1');
    expect(end).toEqual({ outcome: 'failed', code: 'engine_failed', message: 'the quota is used up' });
  });

  test('that ends by the death of the engine is lost, with what it said before', async () => {
    const at = await stage();
    const fault = await faultOf(turn(at, 'text last words\nexit 9'));
    expect(fault).toMatchObject({ code: 'engine_lost', message: expect.stringContaining('exit code 9') });
    expect(at.said()).toBe('last words');
  });

  test('in which the engine prints what is no event is a fault of the protocol, with the line for who looks', async () => {
    const at = await stage();
    const fault = await faultOf(turn(at, 'print {"type":'));
    expect(fault.code).toBe('engine_protocol_error');
    expect(at.frame('malformed')).toEqual({ type: 'malformed', dir: 'recv', text: '{"type":' });
  });

  test('cannot go on when a frame is not stored', async () => {
    const at = await stage();
    const fenced = new TidemarkError('lane_fenced', 'another attempt has the lane', 'Nothing is to be done.');
    at.onEmit = ({ type }) => (type === 'turn.started' ? Promise.reject(fenced) : Promise.resolve());
    await expect(turn(at, 'text hello')).rejects.toBe(fenced);
  });

  test('of whose end the store hears late is not taken for lost', async () => {
    const at = await stage();
    at.onEmit = async ({ type }) => {
      if (type === 'item.completed') await sleep(5 * ENDS_WITHIN_MS);
    };
    expect(await turn(at, 'text hello')).toMatchObject({ outcome: 'completed' });
    expect(at.types().at(-1)).toBe('turn.completed');
  });

  test('is over though its process stays', async () => {
    const at = await stage();
    const driver = at.driver(['--lingers']);
    await driver.open(null);
    expect(await driver.prompt('text hello')).toMatchObject({ outcome: 'completed' });
  });
});

const LONG_AGO = new Date('2020-01-01');

describe('what is large', () => {
  test('is kept out of the log: a long output, and a diff of each file that was in time to be read', async () => {
    const at = await stage();
    await writeFile(join(at.workspace, 'old.txt'), 'old\n');
    await utimes(join(at.workspace, 'old.txt'), LONG_AGO, LONG_AGO);
    looks(at);
    await turn(at, 'tool 5000\nedit old.txt\nedit made.txt\ndelete old.txt');
    expect(at.kept.map(({ name, text }) => [name, text.replaceAll(/^.*\n(?=---)/gm, '')])).toEqual([
      ['shell.txt', 'o'.repeat(5_000)],
      ['old.txt.diff', expect.stringContaining('@@ -1,1 +1,1 @@\n-old\n+new\n')],
      ['made.txt.diff', expect.stringContaining('@@ -0,0 +1,1 @@\n+new\n')],
      ['old.txt.diff', expect.stringContaining('@@ -1,1 +0,0 @@\n-new\n')],
    ]);
    const changes = at.frames.flatMap(({ kept }) => (kept as { diffs?: object[] } | undefined)?.diffs ?? []);
    expect(changes).toMatchObject([
      { path: 'old.txt', changeType: 'edit' },
      { path: 'made.txt', changeType: 'create' },
      { path: 'old.txt', changeType: 'delete' },
    ]);
  });
});

/** Lets the engine write when the driver has looked at the file. */
function looks(at: Stage): void {
  at.onEmit = async ({ type, params }) => {
    const isPatch = (params as { item?: { type?: string } } | undefined)?.item?.type === 'file_change';
    if (type === 'item.started' && isPatch) await writeFile(join(at.workspace, 'looked'), '');
  };
}

describe('a cancelled turn', () => {
  test('ends when the engine has stopped, and what it did is its session’s', async () => {
    const at = await stage();
    const ended = turn(at, 'text begun\nwork for ever');
    await at.until(() => at.types().includes('item.started'));
    at.abort.abort();
    expect(await ended).toEqual({ outcome: 'cancelled' });
    const again = at.driver();
    expect(await again.open(at.known)).toMatchObject({ resumed: true });
  });

  test('that had not begun is not begun', async () => {
    const at = await stage();
    at.abort.abort();
    expect(await turn(at, 'text hello')).toEqual({ outcome: 'cancelled' });
    expect(at.types()).toEqual([]);
  });

  test('of an engine that heeds no signal ends with its process', async () => {
    const at = await stage();
    const driver = at.driver();
    await driver.open(null);
    const ended = faultOf(driver.prompt('text begun\ndeaf'));
    await at.until(() => at.said() === 'begun');
    at.abort.abort();
    await driver.close();
    expect((await ended).code).toBe('engine_lost');
  });
});

describe('a thread', () => {
  test('has its name from the engine when its turn has begun, and is taken up by it with what was said in it', async () => {
    const at = await stage();
    const first = at.driver();
    expect(await first.open(null)).toMatchObject({ nativeSessionId: null, resumed: false });
    await first.prompt('text hello');
    const { known } = at;
    expect(at.frame('thread.started')['params']).toEqual({ thread_id: known.nativeSessionId });
    const again = at.driver();
    expect(await again.open(known)).toMatchObject({ nativeSessionId: known.nativeSessionId, resumed: true });
    at.frames.length = 0;
    await again.prompt('recall');
    expect(JSON.parse(at.said())).toEqual(['text hello']);
    expect(at.names).toEqual([known.nativeSessionId]);
  });

  test.each(['00000000-0000-4000-8000-000000000000', ''])('that the engine has lost is begun anew: %s', async (id) => {
    const at = await stage();
    await keeps(at, THREAD);
    expect(await at.driver().open(knownAs(id))).toMatchObject({ nativeSessionId: null, resumed: false });
  });

  test('of another generation of the events is not taken up', async () => {
    const at = await stage();
    await keeps(at, THREAD);
    expect(await at.driver().open(knownAs(THREAD))).toMatchObject({ resumed: true });
    expect(await at.driver().open(knownAs(THREAD, 'exec-json/0'))).toMatchObject({ resumed: false });
  });
});

const THREAD = '01a22c74-8775-7da2-9e4a-f47fe9286cef';

function knownAs(nativeSessionId: string, protocolVersion = CODEX_EXEC_PROTOCOL_VERSION) {
  return { nativeSessionId, protocolVersion };
}

/** A thread as the engine leaves it. */
async function keeps(at: Stage, id: string): Promise<void> {
  const folder = join(at.workspace, 'sessions/2026/01/01');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, `rollout-2026-01-01T00-00-00-${id}.jsonl`), '[]');
}

describe('a command line that cannot be used', () => {
  test.each([
    ['is not there', { command: ['/no/such/engine'] }, []],
    ['ends at once', {}, ['--dies']],
  ])('because it %s is told from one that was lost', async (_, settings, options) => {
    const at = await stage();
    const driver = at.driver(options, settings);
    await driver.open(null);
    const fault = await faultOf(driver.prompt('text hello'));
    expect(fault.code).toBe('engine_unavailable');
    expect(fault.remedy).not.toBe('');
  });
});
