import { afterEach, describe, expect, test } from 'vitest';
import { cleared, faultOf } from '../driver-testkit.ts';
import { stage, type Stage } from './driver-testkit.ts';

afterEach(cleared);

describe('a thread', () => {
  test('is begun as the settings and the run want it', async () => {
    const at = await stage();
    at.model = 'large';
    const opened = await at.driver([], { model: 'small', sandbox: 'read-only' }).open(null);
    expect(opened).toMatchObject({ protocolVersion: 'app-server/2', resumed: false });
    expect(opened.capabilities).toMatchObject({ approvals: true, questions: true, reconcile: true, commands: false });
    expect(at.types()).toEqual([
      ...['initialize', 'initialize:result', 'initialized'],
      ...['thread/start', 'thread/start:result'],
    ]);
    const params = { cwd: at.workspace, approvalPolicy: 'untrusted', sandbox: 'read-only', model: 'large' };
    expect(at.frame('thread/start')).toMatchObject({ params });
  });

  test('is resumed with what was said in it after its process was killed', async () => {
    const at = await stage();
    const first = at.driver();
    const known = await first.open(null);
    await first.prompt('text hello');
    await first.close();
    const again = at.driver();
    expect(await again.open(known)).toMatchObject({ nativeSessionId: known.nativeSessionId, resumed: true });
    at.frames.length = 0;
    await again.prompt('recall');
    expect(JSON.parse(at.said())).toEqual(['text hello']);
  });

  test('that the engine has lost is begun anew', async () => {
    const at = await stage();
    const opened = await at.driver().open({ nativeSessionId: 'lost', protocolVersion: 'app-server/2' });
    expect(opened.resumed).toBe(false);
    expect(at.types()).toEqual(expect.arrayContaining(['thread/resume:error', 'thread/start:result']));
  });

  test('of another generation of the protocol is not taken up', async () => {
    const at = await stage();
    const opened = await at.driver().open({ nativeSessionId: 'old', protocolVersion: 'app-server/1' });
    expect(opened.resumed).toBe(false);
    expect(at.types()).not.toContain('thread/resume');
  });
});

describe('the mode of a thread', () => {
  test('is its own where that is wanted, and its turns say nothing of it', async () => {
    const at = await stage();
    const driver = at.driver();
    await driver.open(null);
    await driver.prompt('mode');
    expect(at.said()).toBe('default');
    expect(at.paramsOf('turn/start')[0]).not.toHaveProperty('collaborationMode');
  });

  test('becomes the one that is wanted, also when it was taken up in another, and its model stays', async () => {
    const at = await stage();
    const planning = at.driver([], { model: 'large', collaborationMode: 'plan' });
    const known = await planning.open(null);
    await planning.prompt('mode');
    expect(at.said()).toBe('plan');
    const settings = { model: 'large', reasoning_effort: null, developer_instructions: null };
    expect(at.paramsOf('turn/start')).toMatchObject([{ collaborationMode: { mode: 'plan', settings } }]);
    await planning.close();
    at.frames.length = 0;
    const acting = at.driver([], { model: 'large' });
    expect(await acting.open(known)).toMatchObject({ resumed: true });
    await acting.prompt('mode');
    expect(at.said()).toBe('default');
  });
});

describe('the fate of a turn that nobody watched', () => {
  test.each([
    ['completed', 'text hello'],
    ['failed', 'refuse overloaded'],
  ])('is %s where the engine had ended it', async (fate, script) => {
    const at = await stage();
    expect(await probed(at, async (driver) => void (await driver.prompt(script)))).toBe(fate);
  });

  test('is unknown where the engine was killed in it: the turn can go on', async () => {
    const at = await stage();
    const fate = await probed(at, async (driver) => {
      const cut = faultOf(driver.prompt('text begun\nslow'));
      await at.until(() => at.said() === 'begun');
      await driver.close();
      await cut;
    });
    expect(fate).toBe('unknown');
  });

  test('is unknown where the engine had not heard of it', async () => {
    const at = await stage();
    expect(await probed(at, () => Promise.resolve())).toBe('unknown');
  });
});

/** What is found out of a run in whose thread `before` happened. */
async function probed(at: Stage, before: (driver: ReturnType<Stage['driver']>) => Promise<void>) {
  const first = at.driver();
  const known = await first.open(null);
  await before(first);
  await first.close();
  const again = at.driver();
  await again.open(known);
  return await again.probe();
}

describe('an app-server that cannot be used', () => {
  test.each([
    ['is not there', { command: ['/no/such/engine'] }, [], 'engine_unavailable'],
    ['ends at once', {}, ['--dies'], 'engine_unavailable'],
    ['wants a login', {}, ['--auth'], 'engine_unavailable'],
    ['says what is no message', {}, ['--prints', 'Welcome!'], 'engine_protocol_error'],
  ])('because it %s is told from the others', async (_, settings, options, code) => {
    const at = await stage();
    const fault = await faultOf(at.driver(options, settings).open(null));
    expect(fault.code).toBe(code);
    expect(fault.remedy).not.toBe('');
  });

  test('because it does not answer is given up when it is closed', async () => {
    const at = await stage();
    const driver = at.driver(['--mute']);
    const opening = faultOf(driver.open(null));
    await at.until(() => at.types().includes('initialize'));
    await driver.close();
    expect((await opening).code).toBe('engine_lost');
  });
});
