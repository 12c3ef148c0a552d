import { afterEach, describe, expect, test } from 'vitest';
import { TidemarkError } from '../../../contract/errors.ts';
import { cleared, faultOf, isAlive } from '../driver-testkit.ts';
import { stage, turn } from './driver-testkit.ts';

afterEach(cleared);

describe('a turn', () => {
  test('gives every message in order, and its end when the engine says so', async () => {
    const at = await stage();
    const end = await turn(at, 'thought hm\ntext hello\nplan\ntool 10\nusage');
    expect(end).toEqual({ outcome: 'completed', stopReason: 'end_turn' });
    const types = at.types().slice(at.types().indexOf('turn/started') + 1);
    expect(types).toEqual([
      ...['item/started', 'item/completed'],
      ...['item/started', 'item/reasoning/summaryPartAdded', 'item/reasoning/summaryTextDelta', 'item/completed'],
      ...['item/started', 'item/agentMessage/delta', 'item/completed', 'turn/plan/updated'],
      ...['item/started', 'item/commandExecution/outputDelta', 'item/completed', 'thread/tokenUsage/updated'],
      ...['thread/status/changed', 'turn/completed'],
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

  test('is not ended by the end of a sub-agent, whose thread is another', async () => {
    const at = await stage();
    expect(await turn(at, 'child\ntext afterwards')).toMatchObject({ outcome: 'completed' });
    expect(at.said()).toBe('nothing thereafterwards');
    expect(at.paramsOf('turn/completed')).toHaveLength(2);
  });

  test('that fails says why, without the address of the model server', async () => {
    const at = await stage();
    const said = 'unexpected status 529: Overloaded, url: http://127.0.0.1:4103/v1/responses, request id: req-1';
    const message = 'unexpected status 529: Overloaded, request id: req-1';
    const end = await turn(at, `text begun\nretry ${said}\nrefuse ${said}`);
    expect(end).toEqual({ outcome: 'failed', code: 'engine_failed', message });
  });

  test('is watched as a tool while one is open, and as the model otherwise', async () => {
    const at = await stage();
    await turn(at, 'tool 1\ntext between\ntools');
    expect(at.expected).toEqual(['tool', 'model', 'tool', 'model']);
  });

  test('keeps a long output and each diff out of the log', async () => {
    const at = await stage();
    await turn(at, 'tool 5000\nedit notes.txt');
    expect(at.kept).toEqual([
      { name: 'shell.txt', contentType: 'text/plain; charset=utf-8', text: 'o'.repeat(5_000) },
      {
        name: 'notes.txt.diff',
        contentType: 'text/x-diff',
        text: '--- a/notes.txt\n+++ b/notes.txt\n@@ -1 +1 @@\n-old\n+new\n',
      },
    ]);
    expect(at.frames.find(({ kept }) => (kept as { diffs?: unknown } | undefined)?.diffs !== undefined)).toMatchObject({
      kept: { diffs: [{ path: 'notes.txt', changeType: 'edit' }] },
    });
  });

  test('carries the id of its run', async () => {
    const at = await stage();
    await turn(at, 'text hello');
    expect(at.frame('turn/start')).toMatchObject({ params: { clientUserMessageId: at.context.runId } });
  });

  test('cannot go on when a frame is not stored', async () => {
    const at = await stage();
    const driver = at.driver();
    await driver.open(null);
    const fenced = new TidemarkError('lane_fenced', 'another attempt has the lane', 'Nothing is to be done.');
    at.onEmit = (frame) => (frame.type === 'item/started' ? Promise.reject(fenced) : Promise.resolve());
    await expect(driver.prompt('text hello')).rejects.toBe(fenced);
  });

  test('that ends by the death of the engine is lost, with what it said before', async () => {
    const at = await stage();
    const fault = await faultOf(turn(at, 'text last words\ncrash 9'));
    expect(fault.code).toBe('engine_lost');
    expect(fault.message).toBe('scripted ended by itself in the middle (exit code 9)');
    expect(at.said()).toBe('last words');
  });

  test('in which the engine says what is no message is a fault of the protocol, with the line for who looks', async () => {
    const at = await stage();
    const fault = await faultOf(turn(at, 'malformed {"id":'));
    expect(fault.code).toBe('engine_protocol_error');
    expect(at.frame('malformed')).toEqual({ type: 'malformed', dir: 'recv', text: '{"id":' });
  });
});

describe('a cancelled turn', () => {
  test.each(['slow', 'hang'])(
    'of an engine that does "%s" ends when the engine says that it has stopped',
    async (script) => {
      const at = await stage();
      const ended = turn(at, `text begun\n${script}`);
      await at.until(() => at.said() === 'begun');
      at.abort.abort();
      expect(await ended).toEqual({ outcome: 'cancelled' });
      const stopping = at.types().slice(at.types().indexOf('turn/interrupt'));
      expect(stopping).toEqual(expect.arrayContaining(['turn/interrupt:result', 'turn/completed']));
    },
  );

  test('is interrupted as soon as its id is known', async () => {
    const at = await stage();
    const driver = at.driver();
    await driver.open(null);
    at.onEmit = ({ type }) => {
      if (type === 'turn/start') at.abort.abort();
      return Promise.resolve();
    };
    expect(await driver.prompt('slow')).toEqual({ outcome: 'cancelled' });
    const { turn: started } = at.frame('turn/start:result')['result'] as { turn: { id: string } };
    expect(at.frame('turn/interrupt')).toMatchObject({ params: { turnId: started.id } });
  });

  test('that had not begun is not begun', async () => {
    const at = await stage();
    const driver = at.driver();
    await driver.open(null);
    at.abort.abort();
    expect(await driver.prompt('text hello')).toEqual({ outcome: 'cancelled' });
    expect(at.types()).not.toContain('turn/start');
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
    await at.until(() => withdrawn.every(({ aborted }) => aborted));
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
