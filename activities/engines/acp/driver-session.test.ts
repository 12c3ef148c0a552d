import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { cleared, faultOf } from '../driver-testkit.ts';
import { stage } from './driver-testkit.ts';

afterEach(cleared);

test.each([
  ['any agent', {}, true],
  ['Gemini, which takes a file that is not there for a fault', { preset: 'gemini' as const, mode: 'auto' }, false],
])('the files of the client are offered to %s: %s', async (_, settings, isOffered) => {
  const at = await stage();
  await at.driver([], settings).open(null);
  const fs = { readTextFile: isOffered, writeTextFile: isOffered };
  expect(at.frame('initialize')).toMatchObject({ params: { clientCapabilities: { fs } } });
});

describe('a session', () => {
  test('is negotiated, and what the agent has not is not claimed', async () => {
    const at = await stage();
    const opened = await at.driver(['--without', 'resume']).open(null);
    expect(opened).toMatchObject({ protocolVersion: '1', resumed: false });
    expect(opened.capabilities).toMatchObject({
      ...{ streamingText: true, approvals: true, questions: true, stop: true },
      ...{ load: true, resume: false, close: true, modelSelection: true, reconcile: false, desktop: false },
    });
    expect(at.types()).toEqual(['initialize', 'initialize:result', 'session/new', 'session/new:result']);
    expect(at.frames.map((frame) => frame['dir'])).toEqual(['send', 'recv', 'send', 'recv']);
  });

  test.each([
    ['resumed without being told anew', [], 'session/resume'],
    ['loaded, where the agent can no more', ['--without', 'resume'], 'session/load'],
  ])('is %s after its process was killed', async (_, options, method) => {
    const at = await stage();
    const first = at.driver(options);
    const session = await first.open(null);
    await first.prompt('text hello');
    await first.close();
    const again = await at.driver(options).open(session);
    expect(again).toMatchObject({ nativeSessionId: session.nativeSessionId, resumed: true });
    expect(at.types()).toContain(`${method}:result`);
  });

  test('that the agent has lost is begun anew', async () => {
    const at = await stage();
    const known = { nativeSessionId: 'lost', protocolVersion: '1' };
    const opened = await at.driver().open(known);
    expect(opened.resumed).toBe(false);
    expect(at.types()).toEqual(expect.arrayContaining(['session/resume:error', 'session/new:result']));
  });

  test('is begun anew by an agent that cannot take one up', async () => {
    const at = await stage();
    const opened = await at.driver(['--without', 'resume,load']).open({ nativeSessionId: 'x', protocolVersion: '1' });
    expect(opened.resumed).toBe(false);
    expect(opened.nativeSessionId).not.toBe('x');
  });

  test('is set to the mode, the model of the run and the options that are wanted', async () => {
    const at = await stage();
    at.model = 'large';
    await at.driver([], { mode: 'careful', model: 'small', options: { verbose: 'true' } }).open(null);
    const sent = at.frames.filter(({ dir, type }) => dir === 'send' && type.startsWith('session/set'));
    expect(sent.map(({ type, params }) => [type, params])).toEqual([
      ['session/set_mode', expect.objectContaining({ modeId: 'careful' })],
      ['session/set_config_option', expect.objectContaining({ configId: 'engine-model', value: 'large' })],
      ['session/set_config_option', expect.objectContaining({ configId: 'verbose', type: 'boolean', value: true })],
    ]);
  });

  test('is set in the older dialect where the agent speaks that, and not to what it already has', async () => {
    const at = await stage();
    await at.driver(['--models'], { mode: 'auto', model: 'large' }).open(null);
    const sent = at.types().filter((type) => type.startsWith('session/set') && !type.includes(':'));
    expect(sent).toEqual(['session/set_model']);
  });

  test('does not begin under a mode or a model that the agent has not', async () => {
    const at = await stage();
    const mode = await faultOf(at.driver([], { mode: 'wild' }).open(null));
    expect(mode).toMatchObject({ code: 'engine_unavailable', remedy: 'Use one of: auto, careful.' });
    const model = await faultOf(at.driver([], { model: 'huge' }).open(null));
    expect(model).toMatchObject({ code: 'unknown_model', remedy: 'Use one of: small, large.' });
  });

  test('is put away when it is closed between turns', async () => {
    const at = await stage();
    const driver = at.driver();
    const { nativeSessionId } = await driver.open(null);
    await driver.close();
    expect(await readFile(join(at.workspace, '.acp-agent/closed'), 'utf8')).toBe(nativeSessionId);
  });
});

describe('an agent that cannot be used', () => {
  test.each([
    ['is not there', { command: ['/no/such/agent'] }, [], 'engine_unavailable'],
    ['ends at once', {}, ['--dies'], 'engine_unavailable'],
    ['wants a login', {}, ['--auth'], 'engine_unavailable'],
    ['speaks another version', {}, ['--protocol', '2'], 'engine_protocol_error'],
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
