import { afterEach, describe, expect, test } from 'vitest';
import { cleared } from '../driver-testkit.ts';
import type { EngineAnswer } from '../driver.ts';
import { stage, turn } from './driver-testkit.ts';

afterEach(cleared);

const ONCE: EngineAnswer = { status: 'approved', always: false };
const ALWAYS: EngineAnswer = { status: 'approved', always: true };
const NO: EngineAnswer = { status: 'rejected', message: 'not today' };
const input = { command: 'make it' };

describe('a permission', () => {
  test.each<[string, EngineAnswer, object]>([
    ['given once', ONCE, { behavior: 'allow', updatedInput: input }],
    [
      'given with other arguments',
      { status: 'edited', arguments: { command: 'make less' } },
      { behavior: 'allow', updatedInput: { command: 'make less' } },
    ],
    ['refused', NO, { behavior: 'deny', message: 'The user rejected this: not today' }],
  ])('%s is answered so, and the turn goes on', async (_, answer, told) => {
    const at = await stage();
    at.answer = () => Promise.resolve(answer);
    expect(await turn(at, 'permission')).toMatchObject({ outcome: 'completed' });
    expect(at.said()).toBe(`make it: ${JSON.stringify(told)}. `);
    expect(at.questions).toEqual([
      {
        kind: 'approval',
        nativeId: expect.stringMatching(/^[0-9a-f]{12}:request-1$/) as string,
        toolCallId: 'call-1-1',
        toolName: 'Bash',
        arguments: input,
        prompt: 'Bash: make it',
        options: ['approve', 'always', 'edit', 'reject'],
        schema: null,
      },
    ]);
    expect(at.expected).toEqual(['tool', 'model']);
  });

  test('given for always is a rule of the session alone, and leaves its mode as it is', async () => {
    const at = await stage();
    at.answer = () => Promise.resolve(ALWAYS);
    await turn(at, 'permission');
    const rules = [{ toolName: 'Bash', ruleContent: 'make it' }];
    const updatedPermissions = [{ type: 'addRules', rules, behavior: 'allow', destination: 'session' }];
    expect(at.said()).toBe(
      `make it: ${JSON.stringify({ behavior: 'allow', updatedInput: input, updatedPermissions })}. `,
    );
  });

  test.each(['expired', 'cancelled'] as const)(
    'that is %s stops the turn, and the tool does not run',
    async (status) => {
      const at = await stage();
      at.answer = () => Promise.resolve({ status });
      expect(await turn(at, 'permission\ntext on')).toEqual({ outcome: 'cancelled' });
      expect(at.said()).toBe('');
      expect(at.paramsOf('user').at(-1)).toMatchObject({ message: { content: [{ is_error: true }] } });
    },
  );

  test('is asked beside another, and each is answered for itself', async () => {
    const at = await stage();
    at.answer = async (question) => {
      await at.until(() => at.questions.length === 2);
      return question.toolCallId === 'call-1-1' ? ONCE : NO;
    };
    await turn(at, 'parallel');
    expect(at.said()).toContain('first: {"behavior":"allow"');
    expect(at.said()).toContain('second: {"behavior":"deny"');
  });

  test('to leave the planning shows the plan, and is given or not', async () => {
    const at = await stage();
    at.answer = () => Promise.resolve(ONCE);
    await turn(at, 'plan');
    expect(at.questions).toMatchObject([
      { toolName: 'ExitPlanMode', arguments: { plan: '1. Look' }, options: ['approve', 'reject'] },
    ]);
    expect(JSON.parse(at.said())).toEqual({ behavior: 'allow', updatedInput: {} });
  });
});

describe('a question', () => {
  const questions = [
    {
      ...{ question: 'Which colour?', header: 'Colour' },
      options: [
        { label: 'Red', description: 'warm' },
        { label: 'Blue', description: 'cold' },
      ],
      multiSelect: false,
    },
  ];

  test.each<[string, EngineAnswer, object]>([
    [
      'answered',
      { status: 'answered', values: { question_0: 'Green' } },
      { behavior: 'allow', updatedInput: { questions, answers: { 'Which colour?': 'Green' } } },
    ],
    [
      'answered with several',
      { status: 'answered', values: { question_0: ['Red', 'Blue'] } },
      { behavior: 'allow', updatedInput: { questions, answers: { 'Which colour?': 'Red, Blue' } } },
    ],
    ['dismissed', { status: 'dismissed' }, { behavior: 'deny', message: 'The user rejected this.' }],
    ['expired', { status: 'expired' }, { behavior: 'deny', message: 'The user rejected this: nobody has answered' }],
  ])('of the model that is %s reaches it as it takes it', async (_, answer, told) => {
    const at = await stage();
    at.answer = () => Promise.resolve(answer);
    expect(await turn(at, 'question')).toMatchObject({ outcome: 'completed' });
    expect(JSON.parse(at.said())).toEqual(told);
    const field = {
      name: 'question_0',
      prompt: 'Colour: Which colour?',
      type: 'choice',
      custom: true,
      multiple: false,
    };
    expect(at.questions).toMatchObject([
      { kind: 'question', toolName: 'AskUserQuestion', fields: [{ ...field, options: questions[0]?.options }] },
    ]);
  });

  test('of an MCP server is answered as its form', async () => {
    const at = await stage();
    at.answer = () => Promise.resolve({ status: 'answered', values: { colour: 'Blue' } });
    await turn(at, 'form');
    expect(JSON.parse(at.said())).toEqual({ action: 'accept', content: { colour: 'Blue' } });
    expect(at.questions).toMatchObject([{ kind: 'question', toolName: 'paints', prompt: 'Which colour?' }]);
  });

  test('that the program takes back is withdrawn, and it goes on without an answer', async () => {
    const at = await stage();
    at.answer = (_, withdrawn) =>
      new Promise((resolve) => withdrawn?.addEventListener('abort', () => resolve({ status: 'cancelled' })));
    expect(await turn(at, 'withdrawn\ntext on')).toMatchObject({ outcome: 'completed' });
    expect(at.said()).toBe('on');
    expect(at.types()).not.toContain('control_response/can_use_tool');
  });
});

test.each(['hook_callback', 'mcp_message', 'request_user_dialog'])(
  'what no person is asked is refused, not left open: %s',
  async (subtype) => {
    const at = await stage();
    await turn(at, `other ${subtype}`);
    expect(JSON.parse(at.said())).toEqual({ refused: `this client has no method ${subtype}` });
    expect(at.questions).toEqual([]);
  },
);
