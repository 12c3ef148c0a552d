import { afterEach, describe, expect, test } from 'vitest';
import { ENGINE_CAPABILITIES } from '../../../contract/engines.ts';
import { cleared, faultOf } from '../driver-testkit.ts';
import { CREDENTIALS, stage } from './driver-testkit.ts';
import { OPENCODE_CAPABILITIES } from './negotiated.ts';

afterEach(cleared);

const PROTOCOL = 'opencode-serve/1';

describe('a session', () => {
  test('is begun in the workspace, by requests that the server can know us by', async () => {
    const at = await stage();
    const opened = await at.driver().open(null);
    expect(opened).toEqual({
      nativeSessionId: expect.stringMatching(/^ses_/) as string,
      protocolVersion: PROTOCOL,
      capabilities: OPENCODE_CAPABILITIES,
      resumed: false,
    });
    expect(at.server.directory).toBe(at.workspace);
    const basic = `Basic ${Buffer.from(`${CREDENTIALS.username}:${CREDENTIALS.password}`).toString('base64')}`;
    expect(new Set(at.server.asked.map(({ authorization }) => authorization))).toEqual(new Set([basic]));
  });

  test('says which commands there are, without the texts that they stand for', async () => {
    const at = await stage();
    await at.driver().open(null);
    expect(at.frame('GET /command:result')).toMatchObject({ result: [{ name: 'init', description: 'Set up' }] });
    expect(JSON.stringify(at.frames)).not.toContain('template');
  });

  test('is not told that the server is still there', async () => {
    const at = await stage();
    await at.driver().open(null);
    expect(at.types()).toContain('server.connected');
    expect(at.types()).not.toContain('server.heartbeat');
  });

  test('that is known is taken up, and one that is not is begun anew', async () => {
    const at = await stage();
    at.server.messages.set('ses_known', []);
    const known = { nativeSessionId: 'ses_known', protocolVersion: PROTOCOL };
    expect(await at.driver().open(known)).toMatchObject({ nativeSessionId: 'ses_known', resumed: true });
    const other = await stage();
    expect(await other.driver().open(known)).toMatchObject({ resumed: false });
  });

  test('of another protocol is not taken up', async () => {
    const at = await stage();
    at.server.messages.set('ses_known', []);
    expect(await at.driver().open({ nativeSessionId: 'ses_known', protocolVersion: '1' })).toMatchObject({
      resumed: false,
    });
  });

  test('that the server does not give makes the engine unavailable, with its reason', async () => {
    const at = await stage();
    at.server.refusals.set('POST /session', { status: 500, body: { name: 'Unknown', data: { message: 'no disk' } } });
    const fault = await faultOf(at.driver().open(null));
    expect(fault.code).toBe('engine_unavailable');
    expect(fault.message).toBe('scripted gives no session: no disk');
  });

  test('whose answer has no id is a fault of the protocol', async () => {
    const at = await stage();
    at.server.refusals.set('POST /session', { status: 200, body: {} });
    expect((await faultOf(at.driver().open(null))).code).toBe('engine_protocol_error');
  });

  test('of a server that ends before it listens is unavailable', async () => {
    const at = await stage();
    const start = () => {
      const process = at.server.process();
      void at.server.exit(1);
      return process;
    };
    const fault = await faultOf(at.driver({ start }).open(null));
    expect(fault).toMatchObject({
      code: 'engine_unavailable',
      message: 'scripted ended before it was ready (exit code 1)',
    });
  });

  test('is what the kind of engine says that it can do', () => {
    expect(OPENCODE_CAPABILITIES).toEqual(ENGINE_CAPABILITIES.opencode);
  });
});

describe('of a turn that nobody watched', () => {
  test.each([
    ['completed', { time: { completed: 2 }, finish: 'stop' }],
    ['in_progress', { time: { completed: 2 }, finish: 'tool-calls' }],
    ['in_progress', { time: {} }],
    ['in_progress', { time: { completed: 2 }, error: { name: 'MessageAbortedError' } }],
    ['failed', { time: { completed: 2 }, error: { name: 'APIError' } }],
  ])('it is known that it is %s', async (fate, info) => {
    const at = await stage();
    const { runId } = at.context;
    const mark = { tidemark: { runId } };
    const prompt = {
      id: 'prt_1',
      sessionID: 'ses_known',
      messageID: 'msg_1',
      type: 'text',
      text: 'go',
      metadata: mark,
    };
    at.server.messages.set('ses_known', [
      { info: { id: 'msg_1', sessionID: 'ses_known', role: 'user' }, parts: [prompt] },
      { info: { id: 'msg_2', sessionID: 'ses_known', role: 'assistant', ...info }, parts: [] },
    ]);
    const driver = at.driver();
    await driver.open({ nativeSessionId: 'ses_known', protocolVersion: PROTOCOL });
    expect(await driver.probe()).toBe(fate);
  });

  test('nothing is known where its session never heard of the run', async () => {
    const at = await stage();
    const driver = at.driver();
    await driver.open(null);
    expect(await driver.probe()).toBe('unknown');
  });
});

describe('a driver that is closed', () => {
  test('leaves nobody waiting', async () => {
    const at = await stage();
    const driver = at.driver();
    await driver.open(null);
    const ended = faultOf(driver.prompt('text begun\nslow'));
    await at.until(() => at.said() === 'begun');
    await Promise.all([driver.close(), driver.close()]);
    expect((await ended).code).toBe('engine_lost');
  });

  test('before its server listens lets nobody wait for that', async () => {
    const at = await stage();
    const driver = at.driver({ start: () => ({ ...at.server.process(), stdout: at.server.silence() }) });
    const opening = faultOf(driver.open(null));
    await driver.close();
    expect((await opening).code).toBe('engine_unavailable');
  });

  test('starts nothing any more', async () => {
    const at = await stage();
    const driver = at.driver();
    await driver.close();
    expect((await faultOf(driver.open(null))).code).toBe('engine_lost');
  });
});
