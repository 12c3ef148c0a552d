import { afterEach, describe, expect, test } from 'vitest';
import { cleared } from '../driver-testkit.ts';
import type { EngineAnswer } from '../driver.ts';
import { stage, turn } from './driver-testkit.ts';

afterEach(cleared);

const ONCE: EngineAnswer = { status: 'approved', always: false };
const ALWAYS: EngineAnswer = { status: 'approved', always: true };
const NO: EngineAnswer = { status: 'rejected', message: 'no' };

describe('an approval of a command', () => {
  test.each([
    ['given once', ONCE, 'make it: accept. '],
    ['given for always', ALWAYS, 'make it: acceptForSession. '],
    ['refused', NO, 'make it: decline. '],
  ])('%s is answered so, and the turn goes on', async (_, answer, said) => {
    const at = await stage();
    at.answer = () => Promise.resolve(answer);
    expect(await turn(at, 'permission')).toMatchObject({ outcome: 'completed' });
    expect(at.said()).toBe(said);
    expect(at.questions).toEqual([
      {
        kind: 'approval',
        nativeId: expect.stringMatching(/^[0-9a-f]{12}:0$/) as string,
        toolCallId: 'call-1-1',
        toolName: 'shell',
        arguments: { command: 'make it', cwd: at.workspace },
        prompt: 'shell: make it',
        options: ['approve', 'always', 'reject'],
        schema: null,
      },
    ]);
    expect(at.expected).toEqual(['tool', 'model']);
  });

  test.each(['expired', 'cancelled'] as const)(
    'that is %s stops the turn, and the command does not run',
    async (status) => {
      const at = await stage();
      at.answer = () => Promise.resolve({ status });
      expect(await turn(at, 'permission\ntext on')).toEqual({ outcome: 'cancelled' });
      expect(at.said()).toBe('');
      expect(at.paramsOf('item/completed').at(-1)).toMatchObject({ item: { status: 'declined' } });
    },
  );

  test('for always holds for the same command of the session', async () => {
    const at = await stage();
    at.answer = () => Promise.resolve(ALWAYS);
    await turn(at, 'permission\npermission\npermission other');
    expect(at.said()).toBe('make it: acceptForSession. make it: allowed. other: acceptForSession. ');
    expect(at.questions).toHaveLength(2);
  });

  test('is asked beside another, and each is answered for itself', async () => {
    const at = await stage();
    at.answer = async (question) => {
      await at.until(() => at.questions.length === 2);
      return question.toolCallId === 'call-1-1' ? ONCE : NO;
    };
    await turn(at, 'parallel');
    expect(at.said()).toContain('first: accept. ');
    expect(at.said()).toContain('second: decline. ');
  });
});

test('an approval of a patch shows what it changes, which the request itself does not say', async () => {
  const at = await stage();
  at.answer = () => Promise.resolve(NO);
  await turn(at, 'patch notes.txt');
  expect(at.said()).toBe('notes.txt: decline. ');
  const [change] = at.questions[0]?.kind === 'approval' ? (at.questions[0].arguments['changes'] as object[]) : [];
  expect(change).toMatchObject({ kind: 'update', diff: '@@ -1 +1 @@\n-old\n+new\n' });
});

test.each([
  ['for the turn', ONCE, { permissions: { network: { enabled: true } }, scope: 'turn' }],
  ['for the session', ALWAYS, { permissions: { network: { enabled: true } }, scope: 'session' }],
  ['not at all', NO, { permissions: {}, scope: 'turn' }],
])('more permissions are granted %s, and never more than was asked for', async (_, answer, granted) => {
  const at = await stage();
  at.answer = () => Promise.resolve(answer);
  await turn(at, 'grant');
  expect(JSON.parse(at.said())).toEqual(granted);
});

describe('a question', () => {
  test.each<[string, EngineAnswer, object]>([
    ['answered', { status: 'answered', values: { colour: 'Green' } }, { answers: { colour: { answers: ['Green'] } } }],
    ['dismissed', { status: 'dismissed' }, { answers: {} }],
    ['expired', { status: 'expired' }, { answers: {} }],
  ])('of the model that is %s reaches it as it takes it', async (_, answer, response) => {
    const at = await stage();
    at.answer = () => Promise.resolve(answer);
    await turn(at, 'question');
    expect(JSON.parse(at.said())).toEqual(response);
    const options = [
      { label: 'Red', description: 'warm' },
      { label: 'Blue', description: 'cold' },
    ];
    expect(at.questions[0]).toMatchObject({
      kind: 'question',
      toolName: 'request_user_input',
      fields: [{ name: 'colour', prompt: 'Colour: Which colour?', type: 'choice', options, custom: true }],
    });
  });

  test('of an MCP server is answered as its form', async () => {
    const at = await stage();
    at.answer = () => Promise.resolve({ status: 'answered', values: { colour: 'Blue' } });
    await turn(at, 'form');
    expect(JSON.parse(at.said())).toEqual({ action: 'accept', content: { colour: 'Blue' }, _meta: null });
    expect(at.questions[0]).toMatchObject({ kind: 'question', toolName: 'paints', prompt: 'Which colour?' });
  });

  test('that the engine takes back is withdrawn, and it goes on without an answer', async () => {
    const at = await stage();
    at.answer = (_, withdrawn) =>
      new Promise((resolve) => withdrawn?.addEventListener('abort', () => resolve({ status: 'cancelled' })));
    expect(await turn(at, 'withdrawn\ntext on')).toMatchObject({ outcome: 'completed' });
    expect(at.said()).toBe('on');
    await at.until(() => at.types().includes('item/tool/requestUserInput:result'));
    expect(at.questions).toHaveLength(1);
  });

  test('that was answered is not withdrawn by the engine saying so', async () => {
    const at = await stage();
    const signals: AbortSignal[] = [];
    at.answer = (_, withdrawn) => {
      if (withdrawn !== undefined) signals.push(withdrawn);
      return Promise.resolve({ status: 'dismissed' });
    };
    await turn(at, 'question');
    expect(at.types()).toContain('serverRequest/resolved');
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
  });
});

test.each(['item/tool/call', 'account/chatgptAuthTokens/refresh', 'something/request/new'])(
  'what no person is asked is refused, not left open: %s',
  async (method) => {
    const at = await stage();
    await turn(at, `other ${method}`);
    expect(at.said()).toBe('"refused -32601"');
    expect(at.questions).toEqual([]);
  },
);
