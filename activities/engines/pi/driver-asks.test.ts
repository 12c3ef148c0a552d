import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { cleared } from '../driver-testkit.ts';
import type { EngineAnswer } from '../driver.ts';
import { stage, turn, type Stage } from './driver-testkit.ts';

afterEach(cleared);

const ONCE: EngineAnswer = { status: 'approved', always: false };
const ALWAYS: EngineAnswer = { status: 'approved', always: true };

function written(at: Stage, name: string): string | null {
  const file = join(at.workspace, name);
  return existsSync(file) ? readFileSync(file, 'utf8') : null;
}

describe('an approval', () => {
  test('is asked for before the tool runs, with what it is to do', async () => {
    const at = await stage();
    at.answer = () => {
      expect(written(at, 'note.txt')).toBeNull();
      return Promise.resolve(ONCE);
    };
    expect(await turn(at, 'write note.txt hello')).toMatchObject({ outcome: 'completed' });
    expect(written(at, 'note.txt')).toBe('hello\n');
    expect(at.questions).toEqual([
      {
        kind: 'approval',
        nativeId: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
        toolCallId: 'call-1',
        toolName: 'write',
        arguments: { path: 'note.txt', content: 'hello\n' },
        prompt: 'write: note.txt',
        options: ['approve', 'always', 'edit', 'reject'],
        schema: { type: 'object' },
      },
    ]);
  });

  test('with other arguments gives the tool those, and the diff is of them', async () => {
    const at = await stage();
    at.answer = () => Promise.resolve({ status: 'edited', arguments: { path: 'other.txt', content: 'mine\n' } });
    await turn(at, 'write note.txt hello');
    expect([written(at, 'note.txt'), written(at, 'other.txt')]).toEqual([null, 'mine\n']);
    expect(at.kept.map(({ name }) => name)).toEqual(['other.txt.diff']);
  });

  test.each<[string, EngineAnswer, string]>([
    ['rejected', { status: 'rejected', message: 'not today' }, 'The user rejected this call: not today'],
    ['rejected without a word', { status: 'rejected', message: null }, 'The user rejected this call.'],
    ['expired', { status: 'expired' }, 'Nobody approved this call.'],
    ['cancelled', { status: 'cancelled' }, 'Nobody approved this call.'],
  ])('that is %s keeps the tool from running, and the model is told', async (_, answer, told) => {
    const at = await stage();
    at.answer = () => Promise.resolve(answer);
    expect(await turn(at, 'write note.txt hello\ntext on')).toMatchObject({ outcome: 'completed' });
    expect(written(at, 'note.txt')).toBeNull();
    expect(at.told()).toEqual([told]);
    expect(at.said()).toBe('on');
  });

  test('for always holds in its session, for the tool, and of a shell for the command', async () => {
    const at = await stage();
    at.answer = () => Promise.resolve(ALWAYS);
    const first = at.driver();
    const known = await first.open(null);
    await first.prompt('write 1.txt a\nwrite 2.txt b\nshell 1\nshell 2');
    await first.close();
    const second = at.driver();
    await second.open(known);
    await second.prompt('write 3.txt c\nshell 3');
    expect(at.questions.map((question) => question.toolName)).toEqual(['write', 'bash']);
    await second.close();
    await turn(at, 'write 4.txt d');
    expect(at.questions).toHaveLength(3);
  });

  test('is asked for what the settings name, and for what a call is a part of', async () => {
    const at = await stage();
    at.answer = () => Promise.resolve(ONCE);
    const driver = at.driver([], { ask: ['wr*'] });
    await driver.open(null);
    await driver.prompt('shell 1\nwrite 1.txt a\nnested');
    expect(at.questions.map(({ toolName, toolCallId }) => [toolName, toolCallId])).toEqual([
      ['write', 'call-2'],
      ['write', 'call-3'],
      ['write', 'call-3'],
    ]);
    const free = at.driver([], { ask: [] });
    await free.open(null);
    await free.prompt('write 1.txt a');
    expect(at.questions).toHaveLength(3);
  });

  test('is taken back when the turn is stopped', async () => {
    const at = await stage();
    const taken = Promise.withResolvers<void>();
    at.answer = async (_, withdrawn) => {
      at.abort.abort();
      withdrawn?.addEventListener('abort', () => taken.resolve());
      return await taken.promise.then(() => ({ status: 'cancelled' }));
    };
    expect(await turn(at, 'write note.txt hello')).toEqual({ outcome: 'cancelled' });
    await taken.promise;
    expect(written(at, 'note.txt')).toBeNull();
  });
});

describe('a question', () => {
  test('of the model is asked with its options, and the model is told the answer', async () => {
    const at = await stage();
    at.answer = () => Promise.resolve({ status: 'answered', values: { answer: 'Green' } });
    await turn(at, 'question');
    expect(at.questions).toMatchObject([
      {
        kind: 'question',
        toolCallId: 'call-1',
        toolName: 'ask_user',
        prompt: 'Which colour?',
        fields: [{ type: 'choice', custom: true, options: [{ label: 'Red' }, { label: 'Blue' }] }],
      },
    ]);
    expect(at.told()).toEqual(['The user answered: Green']);
  });

  test('that is dismissed is answered so', async () => {
    const at = await stage();
    at.answer = () => Promise.resolve({ status: 'dismissed' });
    await turn(at, 'question');
    expect(at.told()).toEqual(['The user gave no answer.']);
  });

  test('of another extension is asked, and one that runs out of time is taken back', async () => {
    const at = await stage();
    at.answer = (_, withdrawn) =>
      new Promise((resolve) => {
        if (at.questions.length === 1) resolve({ status: 'answered', values: { answer: 'b' } });
        else withdrawn?.addEventListener('abort', () => resolve({ status: 'cancelled' }));
      });
    const select = { method: 'select', title: 'Which?', options: ['a', 'b'] };
    await turn(at, `dialog ${JSON.stringify(select)}\ndialog ${JSON.stringify({ ...select, timeout: 20 })}`);
    expect(at.questions[0]).toMatchObject({ toolName: 'extension', prompt: 'Which?', fields: [{ custom: false }] });
    expect(at.said()).toBe('bnothing');
  });
});
