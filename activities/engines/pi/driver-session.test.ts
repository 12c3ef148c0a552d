import { afterEach, describe, expect, test } from 'vitest';
import { cleared } from '../driver-testkit.ts';
import { stage, turn } from './driver-testkit.ts';

afterEach(cleared);

describe('a session', () => {
  test('is begun with the model of the run, and what it can do is what its tools can', async () => {
    const at = await stage();
    at.model = 'local/large';
    const opened = await at.driver([], { model: 'local/small' }).open(null);
    expect(opened).toMatchObject({ protocolVersion: 'pi-rpc/1', resumed: false });
    expect(opened.capabilities).toMatchObject({ approvals: true, questions: true, reconcile: true, plans: false });
    expect(at.fieldsOf('response', 'data')[0]).toMatchObject({ model: { id: 'local/large' } });
    expect(JSON.stringify(at.frames)).not.toContain('s3cret');
  });

  test('is taken up with what was said in it after its process was killed', async () => {
    const at = await stage();
    const first = at.driver();
    const known = await first.open(null);
    await first.prompt('text hello');
    await first.close();
    const again = at.driver();
    expect(await again.open(known)).toMatchObject({ nativeSessionId: known.nativeSessionId, resumed: true });
    at.frames.length = 0;
    await again.prompt('recall');
    expect(JSON.parse(at.said())).toEqual(['text hello', 'recall']);
  });

  test('that pi has lost is begun anew', async () => {
    const at = await stage();
    const opened = await at.driver().open({ nativeSessionId: 'lost', protocolVersion: 'pi-rpc/1' });
    expect(opened).toMatchObject({ nativeSessionId: 'lost', resumed: false });
  });

  test('that an older pi cannot look for is begun anew', async () => {
    const at = await stage();
    const first = at.driver(['--old']);
    const known = await first.open(null);
    await first.prompt('text hello');
    await first.close();
    const again = at.driver(['--old']);
    const opened = await again.open(known);
    expect(opened.resumed).toBe(false);
    expect(opened.nativeSessionId).not.toBe(known.nativeSessionId);
    expect(await again.prompt('text hello')).toMatchObject({ outcome: 'completed' });
  });

  test('of another generation of the protocol is not taken up', async () => {
    const at = await stage();
    const opened = await at.driver().open({ nativeSessionId: 'old', protocolVersion: 'pi-rpc/0' });
    expect(opened.nativeSessionId).not.toBe('old');
    expect(opened.resumed).toBe(false);
  });
});

describe('the fate of a turn that nobody watched to its end is', () => {
  test.each([
    ['completed when its last message was', 'text hello', 'completed'],
    ['open when it was cut off behind a tool', 'text half\ncrash 3', 'in_progress'],
    ['open when its last request failed', 'refuse no', 'in_progress'],
  ])('%s', async (_, script, fate) => {
    const at = await stage();
    const first = at.driver();
    const known = await first.open(null);
    await first.prompt(script).catch(() => undefined);
    await first.close();
    const again = at.driver();
    await again.open(known);
    expect(await again.probe()).toBe(fate);
  });

  test('unknown in a session that another run began', async () => {
    const at = await stage();
    await turn(at, 'text hello');
    const driver = at.driver();
    await driver.open(null);
    expect(await driver.probe()).toBe('unknown');
  });
});
