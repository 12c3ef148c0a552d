import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { continuingPrompt } from '../../../opaque/turn-prompt.ts';
import agent from '../../../../tests/fixtures/engines/ai-sdk-agent.ts';
import { cleared, folder } from '../../driver-testkit.ts';
import { HostStage } from '../host-testkit.ts';
import { partsOf, type StreamPart } from './agent-shape.ts';
import { openAiSdkAgent } from './host.ts';
import type { SavedSession } from './session-file.ts';

afterEach(cleared);

const CONTINUED = continuingPrompt([]);

async function stage(): Promise<HostStage> {
  return new HostStage({ openAgent: openAiSdkAgent, agent, sessions: await folder() });
}

function parts(at: HostStage, type: string): StreamPart[] {
  return at.of<StreamPart>(type, 'part');
}

function said(at: HostStage): string {
  return parts(at, 'text-delta')
    .map(({ text }) => String(text))
    .join('');
}

/** What the model was told of a tool's call, where it said nothing else. */
function result(at: HostStage): unknown {
  return JSON.parse(said(at));
}

describe('an agent of the AI SDK', () => {
  test('gives every part in order, and its end', async () => {
    const at = await stage();
    const { end } = await at.turn('thought hm\ntext hello\ntool 1\ntext done');
    expect(end).toEqual({ outcome: 'completed', stopReason: 'end_turn' });
    expect(at.types()).toEqual([
      ...['prompt', 'start', 'start-step'],
      ...['reasoning-start', 'reasoning-delta', 'reasoning-end', 'text-start', 'text-delta', 'text-end'],
      ...['tool-call', 'tool-result', 'finish-step'],
      ...['start-step', 'text-start', 'text-delta', 'text-end', 'finish-step', 'finish', 'end'],
    ]);
  });

  test('says nothing of the requests and the answers behind its steps', async () => {
    const at = await stage();
    await at.turn('text hello');
    expect(parts(at, 'start-step')).toMatchObject([{ request: {} }]);
    expect(JSON.stringify(parts(at, 'finish-step'))).not.toMatch(/"(headers|body|raw|messages)"/);
  });

  test('has long texts in pieces, and long outputs out of the log', async () => {
    const at = await stage();
    await at.turn('long 10000\ntool 5000');
    expect(parts(at, 'text-delta').map(({ text }) => String(text).length)).toEqual([4_000, 4_000, 2_000]);
    expect(at.outputs).toEqual([{ toolName: 'read', text: 'o'.repeat(5_000) }]);
  });

  test('is watched as a tool while one works, also one that was approved', async () => {
    const at = await stage();
    at.answer = () => ({ status: 'approved', always: false });
    await at.turn('tool 1\npermission');
    expect(at.awaited).toEqual(['tool', 'model', 'tool', 'model', 'tool', 'model']);
  });

  test('whose model fails has failed, with what the model said', async () => {
    const at = await stage();
    const { end } = await at.turn('text begun\nfault overloaded');
    expect(end).toEqual({ outcome: 'failed', message: 'overloaded' });
  });

  test('that is cancelled stops, and remembers what it had said', async () => {
    const at = await stage();
    const turn = at.turn('text half\nslow');
    await at.until(() => said(at) === 'half');
    at.cancel.abort();
    const { agent: stopped, end } = await turn;
    expect(end).toEqual({ outcome: 'cancelled' });
    const next = at.later('run-2');
    await next.turn('recall', stopped.nativeSessionId);
    expect(said(next)).toBe('text half\nslow / recall');
  });
});

describe('a call that needs approval', () => {
  test('is asked about, and runs when it is approved', async () => {
    const at = await stage();
    at.answer = () => ({ status: 'approved', always: false });
    await at.turn('permission\nresult');
    expect(at.questions).toMatchObject([
      {
        kind: 'approval',
        toolName: 'shell',
        toolCallId: parts(at, 'tool-call')[0]?.['toolCallId'],
        arguments: { command: 'make it' },
        prompt: 'shell: {"command":"make it"}',
        options: ['approve', 'reject'],
      },
    ]);
    expect(result(at)).toEqual({ type: 'text', value: 'ran make it' });
  });

  test('does not run when it is rejected, and the model is told why', async () => {
    const at = await stage();
    at.answer = () => ({ status: 'rejected', message: 'not today' });
    await at.turn('permission\nresult');
    expect(result(at)).toMatchObject({ reason: 'not today' });
  });

  test('is asked beside the others, each by an id of its own', async () => {
    const at = await stage();
    at.answer = ({ prompt }) =>
      prompt.includes('first') ? { status: 'approved', always: false } : { status: 'expired' };
    await at.turn('permissions\npermission');
    expect(new Set(at.questions.map(({ nativeId }) => nativeId)).size).toBe(3);
    expect(parts(at, 'tool-result').map(({ output }) => output)).toEqual(['ran first']);
  });
});

describe('a call that nothing runs', () => {
  test('is a question: a form where its output has a schema, and its answer is its result', async () => {
    const at = await stage();
    at.answer = () => ({ status: 'answered', values: { colour: 'blue' } });
    await at.turn('question\nresult');
    expect(at.questions).toMatchObject([
      {
        kind: 'question',
        toolName: 'ask_user',
        prompt: 'Which colour?',
        fields: [{ name: 'colour', type: 'choice', options: [{ label: 'red' }, { label: 'blue' }] }],
      },
    ]);
    expect(result(at)).toEqual({ type: 'json', value: { colour: 'blue' } });
  });

  test('has an error as its result when it is dismissed', async () => {
    const at = await stage();
    at.answer = () => ({ status: 'dismissed' });
    await at.turn('question\nresult');
    expect(result(at)).toMatchObject({ type: 'error-text' });
  });
});

describe('a session', () => {
  test('is taken up by the next process, which remembers it', async () => {
    const at = await stage();
    const { agent: first } = await at.turn('text the first');
    const next = at.later('run-2');
    const { agent: taken } = await next.turn('recall', first.nativeSessionId);
    expect(taken).toMatchObject({ nativeSessionId: first.nativeSessionId, resumed: true });
    expect(said(next)).toBe('text the first / recall');
  });

  test('has each call with one result, whoever decided on it', async () => {
    const at = await stage();
    at.answer = ({ kind, prompt }) => {
      if (kind === 'question') return { status: 'answered', values: { colour: 'blue' } };
      return prompt.includes('first') ? { status: 'approved', always: false } : { status: 'rejected', message: null };
    };
    const { agent: first } = await at.turn('tool 1\npermissions\nquestion');
    const next = at.later('run-2');
    expect((await next.turn('recall', first.nativeSessionId)).end).toMatchObject({ outcome: 'completed' });
    const saved = JSON.parse(
      await readFile(join(at.sessions, `${first.nativeSessionId}.json`), 'utf8'),
    ) as SavedSession;
    const content = saved.messages.flatMap(partsOf);
    const idsOf = (type: string) => new Set(content.flatMap((part) => (part.type === type ? [part.toolCallId] : [])));
    expect(idsOf('tool-result')).toEqual(idsOf('tool-call'));
    expect(content.filter(({ type }) => type === 'tool-result')).toHaveLength(4);
  });

  test.each([['00000000-0000-4000-8000-000000000000'], ['../../etc/passwd']])(
    'that is not there is a new one (%s)',
    async (id) => {
      const at = await stage();
      const session = await at.open(id);
      expect(session.resumed).toBe(false);
      expect(session.nativeSessionId).not.toBe(id);
    },
  );

  test('that was cut off in a tool goes on, and the model is told that nobody knows what became of the call', async () => {
    const at = await stage();
    const session = await at.cutOff('text half\nhang\nafter-stop\nresult', () => at.types().includes('tool-call'));
    const next = at.later();
    expect((await next.turn(CONTINUED, session)).end).toMatchObject({ outcome: 'completed' });
    expect(result(next)).toMatchObject({ type: 'error-text', value: expect.stringContaining('not known') as string });
  });

  test('that was cut off in a long text has it', async () => {
    const at = await stage();
    const id = await at.cutOff('long 5000\nslow', () => said(at).length === 5_000);
    const { messages } = JSON.parse(await readFile(join(at.sessions, `${id}.json`), 'utf8')) as SavedSession;
    expect(messages.flatMap(partsOf).at(-1)).toEqual({ type: 'text', text: 'x'.repeat(5_000) });
  });

  test('that was cut off at a question asks it again, and goes on there with the answer', async () => {
    const at = await stage();
    const session = await at.cutOff('text half\npermissions\nresult', () => at.questions.length === 2);
    const next = at.later();
    next.answer = () => ({ status: 'approved', always: false });
    const { end } = await next.turn(CONTINUED, session);
    expect(end).toMatchObject({ outcome: 'completed' });
    expect(next.types().slice(0, 2)).toEqual(['prompt', 'start']);
    expect(parts(next, 'tool-result').map(({ output }) => output)).toEqual(['ran first', 'ran second']);
    expect(said(next)).not.toContain('half');
  });

  test('that another run was left at a question with goes on without it', async () => {
    const at = await stage();
    const session = await at.cutOff('permission', () => at.questions.length === 1);
    const next = at.later('run-2');
    expect((await next.turn('result', session)).end).toMatchObject({ outcome: 'completed' });
    expect(next.questions).toEqual([]);
    expect(result(next)).toMatchObject({ value: expect.stringContaining('not run') as string });
  });
});
