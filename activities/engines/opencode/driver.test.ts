import { utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { TidemarkError } from '../../../contract/errors.ts';
import { cleared, faultOf } from '../driver-testkit.ts';
import { stage, turn } from './driver-testkit.ts';
import { modelChoice } from './model-choice.ts';

afterEach(cleared);

describe('a turn', () => {
  test('gives every event in order, and its end when the session is idle', async () => {
    const at = await stage();
    const end = await turn(at, 'think hm\ntext Hello there\nplan\nbash out');
    expect(end).toEqual({ outcome: 'completed', stopReason: 'end_turn' });
    const types = at.types();
    const [delta, part] = ['message.part.delta', 'message.part.updated'];
    expect(types.slice(types.indexOf('session.status') + 1)).toEqual([
      ...['message.updated', part],
      ...[part, delta, part],
      ...[part, delta, delta, part, 'todo.updated'],
      ...[part, delta, part, part],
      ...[part, 'message.updated', 'session.status', 'session.idle'],
    ]);
    expect(at.said()).toBe('hmHello there');
    expect(at.deltas('output')).toEqual(['out']);
  });

  test('waits for a slow store, one frame at a time', async () => {
    const at = await stage();
    let atOnce = 0;
    at.onEmit = async () => {
      expect(++atOnce).toBe(1);
      await new Promise((done) => setImmediate(done));
      atOnce--;
    };
    const words = Array.from({ length: 500 }, (_, n) => String(n));
    await turn(at, `text ${words.join(' ')}`);
    expect(at.said().split(' ')).toEqual(words);
  });

  test('carries the id of its run, and the agent and the model that are wanted', async () => {
    const at = await stage();
    const choice = () => ({ agent: 'plan', model: modelChoice('local/some/model') });
    await turn(at, 'text hello', { choice });
    expect(at.server.bodyOf(/prompt_async$/)).toEqual({
      agent: 'plan',
      model: { providerID: 'local', modelID: 'some/model' },
      parts: [{ type: 'text', text: 'text hello', metadata: { tidemark: { runId: at.context.runId } } }],
    });
  });

  test('is not ended by the end of a sub-agent, whose session is another', async () => {
    const at = await stage();
    expect(await turn(at, 'child found it\ntext afterwards')).toMatchObject({ outcome: 'completed' });
    expect(at.said()).toBe('found itafterwards');
    expect(at.paramsOf('session.idle')).toHaveLength(2);
  });

  test('that fails says why, without the address of the model server', async () => {
    const at = await stage();
    const end = await turn(at, 'text begun\nfail Bad request, url: http://127.0.0.1:4103/v1');
    expect(end).toEqual({ outcome: 'failed', code: 'engine_failed', message: 'Bad request' });
  });

  test('whose model fails more often than it may is stopped and has failed', async () => {
    const at = await stage();
    const end = await turn(at, 'retry 3\nslow', { modelRetries: 2 });
    expect(end).toEqual({ outcome: 'failed', code: 'engine_failed', message: 'Overloaded' });
    expect(at.server.asked.filter(({ path }) => path.endsWith('/abort'))).toHaveLength(1);
  });

  test('whose model answers after all goes on', async () => {
    const at = await stage();
    expect(await turn(at, 'retry 2\ntext there', { modelRetries: 2 })).toMatchObject({ outcome: 'completed' });
  });

  test('that the server refuses has failed', async () => {
    const at = await stage();
    const driver = at.driver();
    const { nativeSessionId } = await driver.open(null);
    const body = { name: 'BadRequest', data: { message: 'no such agent' } };
    at.server.refusals.set(`POST /session/${nativeSessionId}/prompt_async`, { status: 400, body });
    expect(await driver.prompt('text hello')).toEqual({
      outcome: 'failed',
      code: 'engine_failed',
      message: 'no such agent',
    });
  });

  test('is watched as a tool while one works, and as the model otherwise', async () => {
    const at = await stage();
    await turn(at, 'bash out\ntext between\nbash more');
    expect(at.expected).toEqual(['tool', 'model', 'tool', 'model']);
  });

  test('keeps a long output and each diff out of the log, under the path that the workspace has', async () => {
    const at = await stage();
    await turn(at, `bash ${'o'.repeat(5_000)}\nedit ${at.workspace}/notes.txt`);
    expect(at.kept).toEqual([
      { name: 'bash.txt', contentType: 'text/plain; charset=utf-8', text: 'o'.repeat(5_000) },
      {
        name: 'notes.txt.diff',
        contentType: 'text/x-diff',
        text: '--- a/notes.txt\n+++ b/notes.txt\n@@ -1,1 +1,1 @@\n-old\n+new\n',
      },
    ]);
    expect(at.keptIn('message.part.updated')).toMatchObject([
      { output: { name: 'bash.txt' } },
      { diffs: [{ path: 'notes.txt', changeType: 'edit', diff: { name: 'notes.txt.diff' } }] },
    ]);
    expect(at.deltas('output').join('')).toBe('o'.repeat(5_000));
  });

  test('has the diff of a file that it wrote anew, where the text before could be read', async () => {
    const at = await stage();
    const file = join(at.workspace, 'notes.txt');
    await writeFile(file, 'old');
    await utimes(file, 1, 1);
    at.server.onWrite = async () => {
      await at.until(() => at.types().filter((type) => type === 'message.part.updated').length >= 4);
      await writeFile(file, 'new');
    };
    await turn(at, `write ${file}`);
    expect(at.kept.map(({ text }) => text)).toEqual([expect.stringMatching(/^-old\n[^]*^\+new$/m)]);
  });

  test('cannot go on when a frame is not stored', async () => {
    const at = await stage();
    const driver = at.driver();
    await driver.open(null);
    const fenced = new TidemarkError('lane_fenced', 'another attempt has the lane', 'Nothing is to be done.');
    at.onEmit = (frame) => (frame.type === 'session.status' ? Promise.reject(fenced) : Promise.resolve());
    await expect(driver.prompt('text hello')).rejects.toBe(fenced);
  });

  test('that ends by the death of the server is lost, with what it said before', async () => {
    const at = await stage();
    const fault = await faultOf(turn(at, 'text last words\ncrash 9'));
    expect(fault.code).toBe('engine_lost');
    expect(fault.message).toBe('scripted ended by itself in the middle (exit code 9)');
    expect(at.said()).toBe('last words');
  });

  test('in which the server says what is no event is a fault of the protocol, with the line for who looks', async () => {
    const at = await stage();
    const fault = await faultOf(turn(at, 'malformed {"type":'));
    expect(fault.code).toBe('engine_protocol_error');
    expect(at.frame('malformed')).toEqual({ type: 'malformed', dir: 'recv', params: { text: ' {"type":' } });
  });
});

describe('a cancelled turn', () => {
  test.each(['slow', 'permission'])(
    'of an engine that does "%s" ends when it says what became of it',
    async (script) => {
      const at = await stage();
      at.answer = () => new Promise(() => undefined);
      const ended = turn(at, `text begun\n${script}`);
      await at.until(() => at.said() === 'begun');
      at.abort.abort();
      expect(await ended).toEqual({ outcome: 'cancelled' });
      const last = at.paramsOf('message.updated').at(-1)?.['info'];
      expect(last).toMatchObject({ error: { name: 'MessageAbortedError' }, time: { completed: 2 } });
    },
  );

  test('that had not begun is not begun', async () => {
    const at = await stage();
    const driver = at.driver();
    await driver.open(null);
    at.abort.abort();
    expect(await driver.prompt('text hello')).toEqual({ outcome: 'cancelled' });
    expect(at.server.asked.some(({ path }) => path.endsWith('/prompt_async'))).toBe(false);
  });

  test('is stopped as soon as it has begun', async () => {
    const at = await stage();
    const driver = at.driver();
    await driver.open(null);
    at.onEmit = ({ type }) => {
      if (type.endsWith('/prompt_async')) at.abort.abort();
      return Promise.resolve();
    };
    expect(await driver.prompt('slow')).toEqual({ outcome: 'cancelled' });
  });
});

describe('a stream of events that breaks off', () => {
  test('is taken up again, and what was missed is read from the session and told as missed', async () => {
    const at = await stage();
    const end = await turn(at, 'text before\nbreak\ntext meanwhile\nplan\nbash out\nconnected\ntext after');
    expect(end).toMatchObject({ outcome: 'completed' });
    expect(at.said()).toBe('beforemeanwhileafter');
    expect(at.deltas('output')).toEqual(['out']);
    expect(at.paramsOf('events.missed')).toHaveLength(1);
    expect(at.paramsOf('todo.updated')).toHaveLength(1);
  });

  test('after which the turn is over already ends it', async () => {
    const at = await stage();
    expect(await turn(at, 'text before\nbreak\ntext meanwhile')).toMatchObject({ outcome: 'completed' });
    expect(at.said()).toBe('beforemeanwhile');
  });

  test('loses no sub-agent and no question', async () => {
    const at = await stage();
    at.answer = () => Promise.resolve({ status: 'approved', always: false });
    await turn(at, 'break\nchild found it\npermission');
    expect(at.questions).toMatchObject([{ kind: 'approval', toolName: 'bash' }]);
    expect(at.said()).toBe('found it');
  });
});
