import { afterEach, describe, expect, test } from 'vitest';
import { TidemarkError } from '../../../contract/errors.ts';
import { cleared, faultOf, isAlive } from '../driver-testkit.ts';
import { stage, turn } from './driver-testkit.ts';

afterEach(cleared);

describe('a turn', () => {
  test('gives every message in order, and its end when the program is idle', async () => {
    const at = await stage();
    const end = await turn(at, 'thought hm\ntool 10');
    expect(end).toEqual({ outcome: 'completed', stopReason: 'end_turn' });
    const streamed = ['message_start', 'content_block_start', 'content_block_delta'].map(
      (type) => `stream_event/${type}`,
    );
    const streamEnd = ['content_block_stop', 'message_delta', 'message_stop'].map((type) => `stream_event/${type}`);
    expect(at.types()).toEqual([
      ...['control_request/initialize', 'control_response/initialize', 'user'],
      ...['system/session_state_changed', 'system/init'],
      ...[...streamed, 'assistant', ...streamEnd, 'assistant', 'user'],
      ...['result/success', 'system/session_state_changed'],
    ]);
  });

  test('of many thousand pieces loses none, and the engine waits for a slow store', async () => {
    const at = await stage();
    let atOnce = 0;
    at.onEmit = async () => {
      expect(++atOnce).toBe(1);
      await new Promise((done) => setImmediate(done));
      atOnce--;
    };
    await turn(at, 'flood 5000');
    expect(at.said().trim().split(' ').map(Number)).toEqual(Array.from({ length: 5_000 }, (_, n) => n));
  });

  test.each([
    ['says its state', []],
    ['does not', ['--stateless']],
  ])('goes on in another round while a sub-agent works, of a program that %s', async (_, options) => {
    const at = await stage();
    expect(await turn(at, 'agent\ntext afterwards', options)).toMatchObject({ outcome: 'completed' });
    expect(at.said()).toBe('afterwards');
    expect(at.paramsOf('result/success')).toHaveLength(2);
    expect(at.expected).toEqual(['tool', 'model', 'tool', 'model']);
  });

  test('that fails says why, without the address of the gateway, though its result is called a success', async () => {
    const at = await stage();
    const end = await turn(at, 'text begun\nretry overloaded\nrefuse API Error: 529 Overloaded (127.0.0.1:4102).');
    expect(end).toEqual({ outcome: 'failed', code: 'engine_failed', message: 'API Error: 529 Overloaded.' });
  });

  test('keeps a long output and each diff out of the log', async () => {
    const at = await stage();
    await turn(at, 'tool 5000\nwrite new.txt\nedit notes.txt');
    const patch = (name: string, hunk: string) => `--- a/${name}\n+++ b/${name}\n${hunk}\n`;
    expect(at.kept.map(({ name }) => name)).toEqual(['output-call-1-1.txt', 'new.txt.diff', 'notes.txt.diff']);
    expect(at.kept[0]?.text).toBe('o'.repeat(5_000));
    expect(at.kept[1]?.text).toContain('@@ -0,0 +1,1 @@\n+new\n');
    expect(at.kept[2]?.text).toBe(patch('notes.txt', '@@ -1,1 +1,1 @@\n-old\n+new'));
    const diffs = at.frames.map(({ kept }) => (kept as { diffs?: unknown[] } | undefined)?.diffs?.[0]);
    expect(diffs.filter((diff) => diff !== undefined)).toMatchObject([
      { path: 'new.txt', changeType: 'create' },
      { path: 'notes.txt', changeType: 'edit' },
    ]);
  });

  test('says a long text that was never told in pieces in pieces', async () => {
    const at = await stage();
    await turn(at, 'unstreamed 9000');
    expect(at.said()).toBe('x'.repeat(9_000));
    expect(at.types().filter((type) => type === 'stream_event/content_block_delta')).toHaveLength(3);
  });

  test('cannot go on when a frame is not stored', async () => {
    const at = await stage();
    const driver = at.driver();
    await driver.open(null);
    const fenced = new TidemarkError('lane_fenced', 'another attempt has the lane', 'Nothing is to be done.');
    at.onEmit = (frame) => (frame.type === 'assistant' ? Promise.reject(fenced) : Promise.resolve());
    await expect(driver.prompt('text hello')).rejects.toBe(fenced);
  });

  test('that ends by the death of the engine is lost, with what it said before', async () => {
    const at = await stage();
    const fault = await faultOf(turn(at, 'text last words\ncrash 9'));
    expect(fault.code).toBe('engine_lost');
    expect(fault.message).toBe('scripted ended by itself in the middle (exit code 9)');
    expect(at.said()).toBe('last words');
  });

  test.each(['{"id":', '[]', '{"kind":"x"}'])(
    'in which the engine says what is no message is a fault of the protocol: %s',
    async (line) => {
      const at = await stage();
      const fault = await faultOf(turn(at, `malformed ${line}`));
      expect(fault.code).toBe('engine_protocol_error');
      expect(at.frame('malformed')).toEqual({ type: 'malformed', dir: 'recv', text: line });
    },
  );
});

describe('a cancelled turn', () => {
  test.each(['slow', 'hang'])('of a program that does "%s" ends when it says that it has stopped', async (script) => {
    const at = await stage();
    const ended = turn(at, `text begun\n${script}`);
    await at.until(() => at.said() === 'begun');
    at.abort.abort();
    expect(await ended).toEqual({ outcome: 'cancelled' });
    expect(at.types().slice(-2)).toEqual(['result/error_during_execution', 'system/session_state_changed']);
  });

  test('that had not begun is not begun', async () => {
    const at = await stage();
    const driver = at.driver();
    await driver.open(null);
    at.abort.abort();
    expect(await driver.prompt('text hello')).toEqual({ outcome: 'cancelled' });
    expect(at.types()).not.toContain('user');
  });

  test('is interrupted although it is cancelled while its prompt is stored', async () => {
    const at = await stage();
    const driver = at.driver();
    await driver.open(null);
    at.onEmit = ({ type }) => {
      if (type === 'user') at.abort.abort();
      return Promise.resolve();
    };
    expect(await driver.prompt('slow')).toEqual({ outcome: 'cancelled' });
  });

  test('gives up the questions that wait for a person', async () => {
    const at = await stage();
    const withdrawn: AbortSignal[] = [];
    at.answer = (_, signal) => {
      if (signal !== undefined) withdrawn.push(signal);
      return new Promise(() => undefined);
    };
    const ended = turn(at, 'parallel');
    await at.until(() => at.questions.length === 2);
    at.abort.abort();
    expect(await ended).toEqual({ outcome: 'cancelled' });
    expect(withdrawn.map(({ aborted }) => aborted)).toEqual([true, true]);
  });

  test('of a silent engine ends with its process, which does not heed SIGTERM either', async () => {
    const at = await stage();
    const driver = at.driver();
    await driver.open(null);
    const ended = faultOf(driver.prompt('deaf\ntext deaf\nsilent'));
    await at.until(() => at.said() === 'deaf');
    at.abort.abort();
    await driver.close();
    expect((await ended).code).toBe('engine_lost');
  });

  test('leaves no process, not even one that the engine has let go', async () => {
    const at = await stage();
    const driver = at.driver();
    await driver.open(null);
    await driver.prompt('grandchild');
    const pid = Number(at.said());
    expect(await isAlive(pid)).toBe(true);
    await driver.close();
    expect(await isAlive(pid)).toBe(false);
  });
});
