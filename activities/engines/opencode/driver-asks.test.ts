import { afterEach, describe, expect, test } from 'vitest';
import { cleared } from '../driver-testkit.ts';
import type { EngineAnswer } from '../driver.ts';
import { permissionReply } from './approval.ts';
import { stage, turn } from './driver-testkit.ts';

afterEach(cleared);

const reply = /^\/permission\/.*\/reply$/;

describe('what is asked before a tool acts', () => {
  test('names the tool, what it is to do, and what may be answered', async () => {
    const at = await stage();
    at.answer = () => Promise.resolve({ status: 'approved', always: false });
    await turn(at, 'permission');
    const parts = at.paramsOf('message.part.updated').map(({ part }) => part as { id: string; tool?: string });
    const partId = parts.find(({ tool }) => tool === 'bash')?.id;
    expect(at.questions).toEqual([
      {
        kind: 'approval',
        nativeId: expect.stringMatching(/^per_/) as string,
        toolCallId: partId,
        toolName: 'bash',
        arguments: { command: 'make it' },
        prompt: 'bash: make it',
        options: ['approve', 'always', 'reject'],
        schema: null,
      },
    ]);
  });

  test.each<[EngineAnswer, object]>([
    [{ status: 'approved', always: false }, { reply: 'once' }],
    [{ status: 'approved', always: true }, { reply: 'always' }],
    [{ status: 'rejected', message: null }, { reply: 'reject' }],
    [
      { status: 'rejected', message: 'not today' },
      { reply: 'reject', message: 'not today' },
    ],
    [{ status: 'expired' }, { reply: 'reject' }],
    [{ status: 'cancelled' }, { reply: 'reject' }],
    [{ status: 'edited', arguments: {} }, { reply: 'reject' }],
  ])('is answered with no more than %j grants', async (answer, told) => {
    expect(permissionReply(answer)).toEqual(told);
    const at = await stage();
    at.answer = () => Promise.resolve(answer);
    expect(await turn(at, 'permission\ntext on')).toMatchObject({ outcome: 'completed' });
    expect(at.server.bodyOf(reply)).toEqual(told);
  });

  test('is withdrawn when somebody else has answered', async () => {
    const at = await stage();
    let isWithdrawn = false;
    at.answer = (_, withdrawn) => {
      const [id = ''] = at.server.open.keys();
      at.server.open.get(id)?.answered({ reply: 'once' });
      return new Promise((resolve) => {
        withdrawn?.addEventListener('abort', () => {
          isWithdrawn = true;
          resolve({ status: 'cancelled' });
        });
      });
    };
    expect(await turn(at, 'permission\ntext on')).toMatchObject({ outcome: 'completed' });
    expect(isWithdrawn).toBe(true);
    expect(at.server.asked.some(({ path }) => reply.test(path))).toBe(false);
  });

  test('ends the turn when the platform cannot ask', async () => {
    const at = await stage();
    const broken = new Error('the database is gone');
    at.answer = () => Promise.reject(broken);
    await expect(turn(at, 'permission')).rejects.toBe(broken);
  });
});

describe('what the model asks', () => {
  test('is a form of one field a question, whose values go back in order', async () => {
    const at = await stage();
    at.answer = () => Promise.resolve({ status: 'answered', values: { answer1: 'Blue' } });
    await turn(at, 'question');
    expect(at.questions).toMatchObject([
      {
        kind: 'question',
        toolName: 'question',
        prompt: 'Which colour?',
        fields: [{ name: 'answer1', type: 'choice', options: [{ label: 'Red' }, { label: 'Blue' }], custom: true }],
      },
    ]);
    expect(at.said()).toBe('[["Blue"]]');
  });

  test.each<EngineAnswer>([{ status: 'dismissed' }, { status: 'expired' }])(
    'and nobody answers (%j) is taken back from it',
    async (answer) => {
      const at = await stage();
      at.answer = () => Promise.resolve(answer);
      await turn(at, 'question');
      expect(at.server.bodyOf(/^\/question\/.*\/reject$/)).toEqual({});
      expect(at.said()).toBe('');
    },
  );
});
