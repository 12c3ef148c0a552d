import { describe, expect, test, vi } from 'vitest';
import type { HookRecord } from '../../../../contract/extensions/register-kinds.ts';
import { vetoOf, type HookedCall } from './before-tool.ts';

const call: HookedCall = {
  toolName: 'write_file',
  args: { path: 'a', deep: { list: [1] } },
  context: {
    agent: { runId: 'r', threadId: 't', model: 'm' },
    toolCallId: 'c',
    tool: { name: 'write_file', description: 'Writes', parameters: { type: 'object' } },
    cwd: '/workspace',
  },
  within: new AbortController().signal,
};
const judge = async (...hooks: HookRecord['beforeTool'][]) => {
  const failures: { owner: string; error: string }[] = [];
  const registered = hooks.map((beforeTool, index) => ({ owner: `owner ${String(index)}`, record: { beforeTool } }));
  return { veto: await vetoOf(registered, call, (failure) => failures.push(failure)), failures };
};

describe('the hooks', () => {
  test.each([[undefined], [null], [{}], [{ block: false }], [{ allow: true }]])(
    'that answer %j allow',
    async (answer) => {
      expect(await judge(() => answer as never)).toEqual({ veto: null, failures: [] });
    },
  );

  test('block by the first veto, and ask no later one', async () => {
    const later = vi.fn<HookRecord['beforeTool']>();
    const { veto } = await judge(
      () => null,
      async () => await Promise.resolve({ block: true, reason: 'not today' }),
      later,
    );
    expect(veto).toBe('not today');
    expect(later).not.toHaveBeenCalled();
  });

  test.each([
    [
      'throws',
      () => {
        throw new Error('broken\nstack');
      },
      'policy hook failed: broken',
    ],
    ['rejects', async () => await Promise.reject(new Error('broken')), 'policy hook failed: broken'],
    ['answers no object', () => true as never, 'policy hook failed: the answer of the hook is no object'],
    ['blocks by a text', () => ({ block: 'yes' }) as never, 'policy hook failed: block must be true or false'],
  ])('fail closed where one %s', async (_, hook, veto) => {
    const judged = await judge(hook);
    expect(judged.veto).toBe(veto);
    expect(judged.failures).toMatchObject([{ owner: 'owner 0' }]);
  });

  test('fail closed where one says nothing', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    const timeout = vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
      const late = new AbortController();
      setTimeout(() => late.abort(), ms);
      return late.signal;
    });
    const judged = judge(() => new Promise(() => undefined));
    await vi.advanceTimersByTimeAsync(10_000);
    expect((await judged).veto).toBe('policy hook failed: no answer in time');
    timeout.mockRestore();
    vi.useRealTimers();
  });

  test('are not asked when there is no time left', async () => {
    const hook = vi.fn<HookRecord['beforeTool']>();
    const registered = [{ owner: 'o', record: { beforeTool: hook } }];
    const veto = await vetoOf(registered, { ...call, within: AbortSignal.abort() }, () => undefined);
    expect(veto).toBe('policy hook failed: no answer in time');
    expect(hook).not.toHaveBeenCalled();
  });

  test('get a copy of the arguments each: none can rewrite them', async () => {
    const seen: unknown[] = [];
    const meddle: HookRecord['beforeTool'] = (_, args) => {
      seen.push(structuredClone(args));
      (args['deep'] as { list: number[] }).list.push(2);
    };
    await judge(meddle, meddle);
    expect(seen).toEqual([call.args, call.args]);
    expect(call.args).toEqual({ path: 'a', deep: { list: [1] } });
  });
});
