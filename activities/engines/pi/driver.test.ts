import { afterEach, describe, expect, test } from 'vitest';
import { TidemarkError } from '../../../contract/errors.ts';
import { cleared, faultOf } from '../driver-testkit.ts';
import { readProcesses } from '../process/process-table.ts';
import { stage, turn } from './driver-testkit.ts';

afterEach(cleared);

describe('a turn', () => {
  test.each([
    ['pi settles', []],
    ['the loop of an older pi has ended and nothing follows', ['--old']],
  ])('gives every message in order, and its end when %s', async (_, options) => {
    const at = await stage();
    const end = await turn(at, 'text hello\nretry 529: overloaded\ntext again', options);
    expect(end).toEqual({ outcome: 'completed', stopReason: 'end_turn' });
    expect(at.said()).toBe('helloagain');
    const types = at.types().filter((type) => type.startsWith('agent_') || type.startsWith('auto_'));
    const loops = ['agent_start', 'agent_end', 'auto_retry_start', 'agent_start', 'agent_end'];
    expect(types).toEqual(options.length > 0 ? loops : [...loops, 'agent_settled']);
  });

  test('of many thousand pieces loses none, and pi waits for a slow store', async () => {
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

  test('that fails says why, without the address of the model server', async () => {
    const at = await stage();
    const end = await turn(at, 'text begun\nrefuse 500: {"message":"no answer from http://127.0.0.1:4103/v1"}');
    expect(end).toEqual({ outcome: 'failed', code: 'engine_failed', message: '500: no answer from [address]' });
  });

  test('that pi does not take fails with its words', async () => {
    const at = await stage();
    const end = await turn(at, 'text hello', ['--keyless']);
    expect(end).toEqual({ outcome: 'failed', code: 'engine_failed', message: 'No API key found for local.' });
  });

  test('that is a command of an extension ends with it, also when it asks the model', async () => {
    const at = await stage();
    expect(await turn(at, '/nothing')).toEqual({ outcome: 'completed', stopReason: 'end_turn' });
    expect(await turn(at, '/later')).toEqual({ outcome: 'completed', stopReason: 'end_turn' });
    expect(at.said()).toBe('later');
  });

  test('is watched as a tool while one is open, and as the model otherwise', async () => {
    const at = await stage();
    at.answer = () => Promise.resolve({ status: 'approved', always: false });
    await turn(at, 'shell 1\ntext between\nshell 1');
    expect(at.expected).toEqual(['tool', 'model', 'tool', 'model']);
  });

  test('keeps a long output and the diff of each file out of the log', async () => {
    const at = await stage();
    at.answer = () => Promise.resolve({ status: 'approved', always: false });
    await turn(at, 'shell 5000\nwrite note.txt one\nwrite note.txt two\nwrite note.txt two\nnested');
    const [output, ...diffs] = at.kept;
    expect(output).toEqual({ name: 'bash.txt', contentType: 'text/plain; charset=utf-8', text: 'o'.repeat(5_000) });
    expect(diffs.map(({ name, text }) => [name, text.slice(text.indexOf('@@'))])).toEqual([
      ['note.txt.diff', '@@ -0,0 +1,1 @@\n+one\n'],
      ['note.txt.diff', '@@ -1,1 +1,1 @@\n-one\n+two\n'],
      ['1.txt.diff', '@@ -0,0 +1,1 @@\n+1\n'],
      ['2.txt.diff', '@@ -0,0 +1,1 @@\n+2\n'],
    ]);
    const kept = at.fieldsOf('tool_execution_end', 'kept').map((each) => each?.['changes']);
    expect(kept).toMatchObject([
      undefined,
      [{ path: 'note.txt', changeType: 'create' }],
      [{ path: 'note.txt', changeType: 'edit' }],
      [],
      [{ path: '1.txt' }, { path: '2.txt' }],
    ]);
  });

  test('cannot go on when a frame is not stored', async () => {
    const at = await stage();
    const driver = at.driver();
    await driver.open(null);
    const fault = new TidemarkError('lane_fenced', 'another attempt has the lane', 'Nothing is to be done.');
    at.onEmit = ({ type }) => (type === 'message_update' ? Promise.reject(fault) : Promise.resolve());
    expect(await faultOf(driver.prompt('text hello'))).toBe(fault);
  });
});

describe('a turn that is to end', () => {
  test.each([
    ['pi', []],
    ['an older pi, which has no such queues,', ['--old']],
  ])('is stopped, with what is queued, and ends as cancelled when %s says so', async (_, options) => {
    const at = await stage();
    at.onEmit = ({ type }) => {
      if (type === 'message_update') at.abort.abort();
      return Promise.resolve();
    };
    expect(await turn(at, 'text half\nslow', options)).toEqual({ outcome: 'cancelled' });
    expect(at.types().filter((type) => type === 'clear_queue' || type === 'abort')).toEqual(['clear_queue', 'abort']);
  });

  test('before it has begun is not begun', async () => {
    const at = await stage();
    const driver = at.driver();
    await driver.open(null);
    at.abort.abort();
    expect(await driver.prompt('text hello')).toEqual({ outcome: 'cancelled' });
    expect(at.types()).not.toContain('prompt');
  });
});

describe('a pi that', () => {
  test('dies in a turn is lost', async () => {
    const at = await stage();
    const fault = await faultOf(turn(at, 'text half\ncrash 3'));
    expect(fault).toMatchObject({
      code: 'engine_lost',
      message: 'scripted ended by itself in the middle (exit code 3)',
    });
  });

  test('prints what is no message breaks its protocol, and the line is stored', async () => {
    const at = await stage();
    expect(await faultOf(turn(at, 'malformed {{'))).toMatchObject({ code: 'engine_protocol_error' });
    expect(at.frame('malformed')).toMatchObject({ text: '{{' });
  });

  test('ends before it is ready is not available', async () => {
    const at = await stage();
    expect(await faultOf(at.driver(['--dies']).open(null))).toMatchObject({ code: 'engine_unavailable' });
  });

  test('has not loaded the extension that asks is not driven', async () => {
    const at = await stage();
    expect(await faultOf(at.driver(['--bare']).open(null))).toMatchObject({
      code: 'engine_unavailable',
      message: 'scripted did not load the extension that asks for approvals',
    });
  });

  test('never answers is gone when its driver is closed', async () => {
    const at = await stage();
    const driver = at.driver(['--mute']);
    const opening = faultOf(driver.open(null));
    await at.until(() => at.types().includes('extension_ui_request'));
    await driver.close();
    expect(await opening).toMatchObject({ code: 'engine_lost', message: 'scripted was closed' });
    const left = (await readProcesses()).filter(({ mark }) => mark?.startsWith(`${at.context.runId}/`));
    expect(left).toEqual([]);
  });
});
