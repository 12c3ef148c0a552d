import { afterEach, describe, expect, test } from 'vitest';
import { cleared } from '../driver-testkit.ts';
import type { EngineAnswer } from '../driver.ts';
import { stage, turn } from './driver-testkit.ts';

afterEach(cleared);

describe('a permission', () => {
  test.each<[string, EngineAnswer, string]>([
    ['given once', { status: 'approved', always: false }, 'the-allow_once'],
    ['given for always', { status: 'approved', always: true }, 'the-allow_always'],
    ['refused', { status: 'rejected', message: 'no' }, 'the-reject_once'],
    ['expired', { status: 'expired' }, 'cancelled'],
    ['that nobody can give', { status: 'cancelled' }, 'cancelled'],
  ])('%s is answered so', async (_, answer, chosen) => {
    const at = await stage();
    at.answer = () => Promise.resolve(answer);
    await turn(at, 'permission');
    expect(at.said()).toBe(`make it: ${chosen}. `);
    expect(at.questions).toEqual([
      {
        kind: 'approval',
        nativeId: expect.stringMatching(/^[0-9a-f]{12}:0$/),
        toolCallId: 'call-1',
        toolName: 'execute',
        arguments: { command: 'make it' },
        prompt: 'execute: make it',
        options: ['approve', 'always', 'reject'],
        schema: null,
      },
    ]);
    expect(at.expected).toEqual(['tool', 'model']);
  });

  test('for once is never turned into one for always', async () => {
    const at = await stage();
    at.answer = () => Promise.resolve({ status: 'approved', always: false });
    await turn(at, 'permission allow_always');
    expect(at.questions[0]).toMatchObject({ options: ['always', 'reject'] });
    expect(at.said()).toBe('make it: cancelled. ');
  });

  test('that an agent cannot be refused is answered as cancelled', async () => {
    const at = await stage();
    at.answer = () => Promise.resolve({ status: 'rejected', message: null });
    await turn(at, 'permission allow_once');
    expect(at.said()).toBe('make it: cancelled. ');
  });

  test('is asked beside another, and each is answered for itself', async () => {
    const at = await stage();
    at.answer = async (question) => {
      await at.until(() => at.questions.length === 2);
      const isFirst = question.kind === 'approval' && question.toolCallId === 'call-1';
      return isFirst ? { status: 'approved', always: false } : { status: 'rejected', message: null };
    };
    await turn(at, 'parallel');
    expect(at.said()).toContain('first: the-allow_once. ');
    expect(at.said()).toContain('second: the-reject_once. ');
    expect(new Set(at.questions.map(({ nativeId }) => nativeId)).size).toBe(2);
  });

  test('that the agent takes back is not waited for', async () => {
    const at = await stage();
    at.answer = () => new Promise(() => undefined);
    expect(await turn(at, 'withdrawn')).toMatchObject({ outcome: 'completed' });
    expect(at.types()).toContain('$/cancel_request');
  });
});

describe('a question', () => {
  test.each<[string, EngineAnswer, object]>([
    [
      'answered',
      { status: 'answered', values: { colour: 'Blue', note: 'dark' } },
      { action: 'accept', content: { colour: 'b', note: 'dark' } },
    ],
    ['dismissed', { status: 'dismissed' }, { action: 'decline' }],
    ['expired', { status: 'expired' }, { action: 'cancel' }],
  ])('that is %s reaches the agent as it takes it', async (_, answer, response) => {
    const at = await stage();
    at.answer = () => Promise.resolve(answer);
    await turn(at, 'question');
    expect(JSON.parse(at.said())).toEqual(response);
    const text = { type: 'text', options: [], multiple: false, custom: false, required: false };
    expect(at.questions[0]).toMatchObject({
      kind: 'question',
      prompt: 'Which colour?',
      fields: [
        {
          ...text,
          name: 'colour',
          prompt: 'Colour',
          type: 'choice',
          options: [{ label: 'Red' }, { label: 'Blue' }],
          required: true,
        },
        { ...text, name: 'note', prompt: 'Note' },
      ],
    });
  });

  test('that would open a page is declined', async () => {
    const at = await stage();
    await turn(at, 'page');
    expect(JSON.parse(at.said())).toEqual({ action: 'decline' });
    expect(at.questions).toEqual([]);
  });
});
