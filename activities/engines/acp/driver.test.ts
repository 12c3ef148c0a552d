import { afterEach, describe, expect, test } from 'vitest';
import { TidemarkError } from '../../../contract/errors.ts';
import { cleared, faultOf, isAlive } from '../driver-testkit.ts';
import { stage, turn } from './driver-testkit.ts';

afterEach(cleared);

describe('a turn', () => {
  test('gives every message in order, and its end when the agent says so', async () => {
    const at = await stage();
    const end = await turn(at, 'thought hm\ntext hello\nplan\ntool 10\nchild');
    expect(end).toEqual({ outcome: 'completed', stopReason: 'end_turn' });
    expect(at.types().at(-1)).toBe('session/prompt:result');
    const kinds = at.frames
      .filter(({ type }) => type === 'session/update')
      .map(({ params }) => (params as { update: { sessionUpdate: string } }).update.sessionUpdate);
    expect(kinds).toEqual([
      ...['agent_thought_chunk', 'agent_message_chunk', 'plan'],
      ...['tool_call', 'tool_call_update', 'tool_call_update', 'tool_call', 'tool_call_update'],
    ]);
  });

  test('of many thousand chunks loses none, and the agent waits for a slow store', async () => {
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
    ['stop max_tokens', { outcome: 'completed', stopReason: 'length' }],
    ['stop refusal', { outcome: 'completed', stopReason: 'refusal' }],
    ['refuse overloaded', { outcome: 'failed', code: 'engine_failed', message: 'overloaded' }],
  ])('that ends by "%s" says so', async (script, end) => {
    expect(await turn(await stage(), script)).toEqual(end);
  });

  test('is watched as a tool while one is open, and as the model otherwise', async () => {
    const at = await stage();
    await turn(at, 'tool 1\ntext between\ntool 1');
    expect(at.expected).toEqual(['tool', 'model', 'tool', 'model']);
  });

  test('cannot go on when a frame is not stored', async () => {
    const at = await stage();
    const driver = at.driver();
    await driver.open(null);
    const fenced = new TidemarkError('lane_fenced', 'another attempt has the lane', 'Nothing is to be done.');
    at.onEmit = (frame) => (frame.type === 'session/update' ? Promise.reject(fenced) : Promise.resolve());
    await expect(driver.prompt('text hello')).rejects.toBe(fenced);
  });

  test('that ends by the death of the agent is lost, with what it said before', async () => {
    const at = await stage();
    const fault = await faultOf(turn(at, 'text last words\ncrash 9'));
    expect(fault).toMatchObject({
      code: 'engine_lost',
      message: 'scripted ended by itself in the middle (exit code 9)',
    });
    expect(at.said()).toBe('last words');
  });

  test('in which the agent says what is no message is a fault of the protocol, with the line for who looks', async () => {
    const at = await stage();
    const fault = await faultOf(turn(at, 'malformed {"jsonrpc":'));
    expect(fault.code).toBe('engine_protocol_error');
    expect(at.frame('malformed')).toEqual({ type: 'malformed', dir: 'recv', text: '{"jsonrpc":' });
  });
});

describe('a cancelled turn', () => {
  test.each(['slow', 'hang'])(
    'of an agent that does "%s" ends when the agent says that it has stopped',
    async (script) => {
      const at = await stage();
      const ended = turn(at, `text begun\n${script}`);
      await at.until(() => at.said() === 'begun');
      at.abort.abort();
      expect(await ended).toEqual({ outcome: 'cancelled' });
      // what the agent sent before it heard of the cancel may still come after it
      const stopping = at.types().slice(at.types().indexOf('session/cancel'));
      expect([stopping[0], stopping.at(-1)]).toEqual(['session/cancel', 'session/prompt:result']);
    },
  );

  test('answers what waits for a person', async () => {
    const at = await stage();
    at.answer = () => new Promise(() => undefined);
    const ended = turn(at, 'parallel');
    await at.until(() => at.questions.length === 2);
    at.abort.abort();
    expect(await ended).toEqual({ outcome: 'cancelled' });
    const answers = at.frames.filter(({ type }) => type === 'session/request_permission:result');
    const cancelled = { outcome: { outcome: 'cancelled' } };
    expect(answers.map(({ result }) => result)).toEqual([cancelled, cancelled]);
  });

  test('that had not begun is not begun', async () => {
    const at = await stage();
    const driver = at.driver();
    await driver.open(null);
    at.abort.abort();
    expect(await driver.prompt('text hello')).toEqual({ outcome: 'cancelled' });
    expect(at.types()).not.toContain('session/prompt');
  });

  test('of a silent agent ends with its process, which does not heed SIGTERM either', async () => {
    const at = await stage();
    const driver = at.driver();
    await driver.open(null);
    const ended = faultOf(driver.prompt('deaf\ntext deaf\nsilent'));
    await at.until(() => at.said() === 'deaf');
    at.abort.abort();
    await driver.close();
    expect((await ended).code).toBe('engine_lost');
  });

  test('leaves no process, not even one that the agent has let go', async () => {
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
