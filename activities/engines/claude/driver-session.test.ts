import { afterEach, describe, expect, test } from 'vitest';
import { cleared, faultOf } from '../driver-testkit.ts';
import { stage, turn } from './driver-testkit.ts';

afterEach(cleared);

describe('a session', () => {
  test('is begun under an id of ours, as the settings and the run want it', async () => {
    const at = await stage();
    at.model = 'opus';
    const driver = at.driver([], {
      ...{
        model: 'haiku',
        permissionMode: 'plan',
        allowedTools: ['Bash(git *)', 'Read'],
        disallowedTools: ['WebFetch'],
      },
      ...{ tools: ['Bash', 'Read'], settingSources: [] },
    });
    const { nativeSessionId, protocolVersion, capabilities, resumed } = await driver.open(null);
    expect({ protocolVersion, resumed }).toEqual({ protocolVersion: 'stream-json/1', resumed: false });
    expect(capabilities).toMatchObject({ approvals: true, questions: true, plans: true, commands: true, load: false });
    await driver.prompt('arguments');
    expect(JSON.parse(at.said())).toEqual([
      ...['--output-format', 'stream-json', '--verbose', '--input-format', 'stream-json'],
      ...['--permission-prompt-tool', 'stdio', '--include-partial-messages'],
      ...['--session-id', nativeSessionId, '--permission-mode', 'plan', '--model', 'opus', '--tools=Bash,Read'],
      ...['--allowedTools=Bash(git *)', '--allowedTools=Read', '--disallowedTools=WebFetch', '--setting-sources='],
    ]);
  });

  test('has its program say its state, and not what would be said elsewhere', async () => {
    const at = await stage();
    await turn(at, 'environment CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS\nenvironment DISABLE_AUTOUPDATER');
    expect(at.said()).toBe('11');
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

  test('that the program has lost is begun anew, and works', async () => {
    const at = await stage();
    const driver = at.driver();
    const opened = await driver.open({ nativeSessionId: 'lost', protocolVersion: 'stream-json/1' });
    expect(opened).toMatchObject({ resumed: false });
    expect(opened.nativeSessionId).not.toBe('lost');
    expect(at.types()).toContain('result/error_during_execution');
    expect(await driver.prompt('text hello')).toMatchObject({ outcome: 'completed' });
  });

  test('of another protocol is not taken up', async () => {
    const at = await stage();
    const opened = await at.driver().open({ nativeSessionId: 'old', protocolVersion: '1' });
    expect(opened.resumed).toBe(false);
    expect(at.types()).not.toContain('result/error_during_execution');
  });
});

describe('a program that cannot be used', () => {
  test.each([
    ['is not there', { command: ['/no/such/engine'] }, [], 'engine_unavailable'],
    ['ends at once', {}, ['--dies'], 'engine_unavailable'],
    ['refuses', {}, ['--auth'], 'engine_unavailable'],
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
    await at.until(() => at.types().includes('control_request/initialize'));
    await driver.close();
    expect((await opening).code).toBe('engine_lost');
  });
});
