import { MemorySaver, StateGraph } from '@langchain/langgraph';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { continuingPrompt } from '../../../opaque/turn-prompt.ts';
import agent from '../../../../tests/fixtures/engines/langgraph-agent.ts';
import { cleared, folder } from '../../driver-testkit.ts';
import { HostStage } from '../host-testkit.ts';
import { textOf } from '../shown-value.ts';
import { openLangGraphAgent } from './host.ts';

afterEach(cleared);

const CONTINUED = continuingPrompt([]);
const APPROVED = { status: 'approved', always: false } as const;

async function stage(options: Readonly<Record<string, string>> = {}): Promise<HostStage> {
  // each process has a graph that knows nothing
  const fresh = agent.withConfig({});
  return new HostStage({ openAgent: openLangGraphAgent, agent: fresh, sessions: await folder(), options });
}

type Chunk = readonly [
  message: { readonly id: readonly string[]; readonly kwargs: Fields & { content: unknown } },
  origin: Fields,
];
type Fields = Readonly<Record<string, unknown>>;

/** What the model said as text. */
function said(at: HostStage): string {
  const chunks = at.of<Chunk>('messages', 'chunk').filter(([{ id }]) => id.at(-1) !== 'ToolMessage');
  return chunks.map(([{ kwargs }]) => textOf(kwargs.content)).join('');
}

describe('a graph of LangGraph', () => {
  test('gives every chunk in order, and its end', async () => {
    const at = await stage();
    const { end } = await at.turn('thought hm\ntext hello\ntool 1\ntext done');
    expect(end).toEqual({ outcome: 'completed', stopReason: 'end_turn' });
    expect(at.types()).toEqual([
      'input',
      ...['messages', 'messages', 'messages', 'messages', 'updates'],
      ...['tools', 'tools', 'messages', 'updates'],
      ...['messages', 'messages', 'updates', 'end'],
    ]);
    expect(said(at)).toMatch(/hellodone$/);
  });

  test('gives the events of its protocol when its engine is configured so, without the states in them', async () => {
    const at = await stage({ events: 'v3' });
    const { end } = await at.turn('text hello\ntool 5000');
    expect(end).toMatchObject({ outcome: 'completed' });
    const methods = at.of<string>('event', 'method');
    expect(new Set(methods)).toEqual(
      new Set(['lifecycle', 'checkpoints', 'values', 'tasks', 'messages', 'updates', 'tools']),
    );
    const values = at.of<{ data?: unknown }>('event', 'params').filter((_, i) => methods[i] === 'values');
    expect(values.every(({ data }) => data === undefined)).toBe(true);
    expect(at.outputs).toEqual([{ toolName: 'read', text: 'o'.repeat(5_000) }]);
  });

  test('has long texts in pieces, each a chunk of its message, and long outputs out of the log', async () => {
    const at = await stage();
    await at.turn('thought hm\nlong 10000\ntool 5000\nlong 5000');
    const chunks = at.of<Chunk>('messages', 'chunk').filter(([{ kwargs }]) => textOf(kwargs.content).startsWith('x'));
    expect(chunks.map(([{ kwargs }]) => textOf(kwargs.content).length)).toEqual([4_000, 4_000, 2_000, 4_000, 1_000]);
    expect(chunks.map(([{ kwargs }]) => kwargs['id'])).toEqual([
      'answer-1',
      'answer-1',
      'answer-1',
      'answer-3',
      'answer-3',
    ]);
    expect(at.outputs).toEqual([{ toolName: 'read', text: 'o'.repeat(5_000) }]);
  });

  test('is watched as a tool while one works', async () => {
    const at = await stage();
    at.answer = () => APPROVED;
    await at.turn('tool 1\npermission');
    expect(at.awaited).toEqual(['tool', 'model', 'tool', 'model', 'tool', 'model']);
  });

  test.each([[{}], [{ events: 'v3' }]])(
    'whose model fails has failed, with what the model said (%o)',
    async (options) => {
      const at = await stage(options);
      const { end } = await at.turn('text begun\nfault overloaded');
      expect(end).toEqual({ outcome: 'failed', message: 'overloaded' });
      expect(at.frames.at(-1)).toEqual({ type: 'throw', dir: 'recv', name: 'Error', message: 'overloaded' });
    },
  );

  test.each([[{}], [{ events: 'v3' }]])('that is cancelled stops (%o)', async (options) => {
    const at = await stage(options);
    const turn = at.turn('text half\nslow');
    await at.until(() => JSON.stringify(at.frames.slice(1)).includes('half'));
    at.cancel.abort();
    expect((await turn).end).toEqual({ outcome: 'cancelled' });
  });

  test('is refused where the module exports something else', async () => {
    const at = new HostStage({ openAgent: openLangGraphAgent, agent: { stream() {} }, sessions: await folder() });
    await expect(at.open(null)).rejects.toMatchObject({ what: 'its module exports no graph' });
  });
});

describe('an interrupt of the human in the loop', () => {
  test('is an approval of the call that it is about, with the decisions that it allows', async () => {
    const at = await stage();
    at.answer = () => APPROVED;
    await at.turn('permission\nresult');
    expect(at.questions).toMatchObject([
      {
        kind: 'approval',
        toolCallId: 'call-0-0',
        toolName: 'shell',
        arguments: { command: 'make it' },
        prompt: 'Run make it',
        options: ['approve', 'edit', 'reject'],
      },
    ]);
    expect(said(at)).toBe('ran make it');
  });

  test('takes other arguments, and a rejection with its reason', async () => {
    const at = await stage();
    at.answer = () => ({ status: 'edited', arguments: { command: 'make test' } });
    await at.turn('permission\nresult');
    expect(said(at)).toBe('ran make test');
    const next = at.later();
    next.answer = () => ({ status: 'rejected', message: 'not today' });
    await next.turn('permission\nresult');
    expect(said(next)).toContain('rejected: not today');
  });

  test('is asked beside the others, and each has its own answer', async () => {
    const at = await stage();
    at.answer = ({ prompt }) => (prompt === 'Run first' ? APPROVED : { status: 'rejected', message: null });
    await at.turn('permissions');
    expect(at.questions.map(({ toolCallId }) => toolCallId)).toEqual(['call-0-0', 'call-0-1']);
    expect(JSON.stringify(at.frames)).toContain('ran first');
    expect(JSON.stringify(at.frames)).not.toContain('ran second');
  });
});

describe('any other interrupt', () => {
  test('is a question, and its answer is what the graph is resumed with', async () => {
    const at = await stage();
    at.answer = () => ({ status: 'answered', values: { answer: 'blue' } });
    await at.turn('question\nresult');
    expect(at.questions).toMatchObject([
      {
        kind: 'question',
        prompt: 'Which colour?',
        fields: [{ type: 'choice', options: [{ label: 'red' }, { label: 'blue' }] }],
      },
    ]);
    expect(at.of('input', 'input')).toMatchObject([{}, { resume: 'blue' }]);
    expect(said(at)).toBe('answered blue');
  });

  test('that is dismissed goes on without an answer', async () => {
    const at = await stage();
    at.answer = () => ({ status: 'dismissed' });
    await at.turn('question\nresult');
    expect(said(at)).toBe('answered (no answer)');
  });
});

describe('a thread', () => {
  test('is taken up by the next process, which remembers it', async () => {
    const at = await stage();
    const { agent: first } = await at.turn('text the first');
    const next = at.later('run-2');
    const { agent: taken } = await next.turn('recall', first.nativeSessionId);
    expect(taken).toMatchObject({ nativeSessionId: first.nativeSessionId, resumed: true, resumable: true });
    expect(said(next)).toBe('text the first / recall');
  });

  test('of a turn that is over keeps its state, and not what led to it', async () => {
    const sessions = await folder();
    const at = new HostStage({ openAgent: openLangGraphAgent, agent: agent.withConfig({}), sessions });
    const { agent: first } = await at.turn('tool 1\nchild it\ntext done');
    const file = JSON.parse(await readFile(join(sessions, `${first.nativeSessionId}.json`), 'utf8')) as {
      checkpoints: Record<string, object>;
    };
    expect(Object.entries(file.checkpoints).map(([namespace, kept]) => [namespace, Object.keys(kept).length])).toEqual([
      ['', 1],
    ]);
  });

  test('that nobody knows is a new one', async () => {
    const at = await stage();
    expect(await at.open('00000000-0000-4000-8000-000000000000')).toMatchObject({ resumed: false });
  });

  test('that was cut off in a tool goes on, and the model is told that nobody knows what became of the call', async () => {
    const at = await stage();
    const id = await at.cutOff('text half\nhang\nafter-stop\nresult', () => at.types().includes('tools'));
    const next = at.later();
    expect((await next.turn(CONTINUED, id)).end).toMatchObject({ outcome: 'completed' });
    expect(said(next)).toContain('not known');
  });

  test('that was cut off at an interrupt asks again, and goes on there with the answer', async () => {
    const at = await stage();
    const id = await at.cutOff('text half\npermissions\nresult', () => at.questions.length === 2);
    const next = at.later();
    next.answer = () => APPROVED;
    expect((await next.turn(CONTINUED, id)).end).toMatchObject({ outcome: 'completed' });
    expect(next.of('input', 'input')).toMatchObject([{ resume: {} }]);
    expect(said(next)).toBe('ran second');
  });

  test('that another run was left at an interrupt goes on without it', async () => {
    const at = await stage();
    const id = await at.cutOff('permission', () => at.questions.length === 1);
    const next = at.later('run-2');
    expect((await next.turn('result', id)).end).toMatchObject({ outcome: 'completed' });
    expect(next.questions).toEqual([]);
    expect(said(next)).toContain('not run');
  });

  test("is the checkpointer's own where the graph has one that is not in memory, and nobody's where it wants none", async () => {
    class Elsewhere extends MemorySaver {}
    const graph = () =>
      new StateGraph<{ messages: unknown[] }>({ channels: { messages: null } })
        .addNode('a', () => ({}))
        .addEdge('__start__', 'a');
    const sessions = await folder();
    const checkpointer = new Elsewhere();
    const own = graph().compile({ checkpointer });
    await new HostStage({ openAgent: openLangGraphAgent, agent: own, sessions }).open(null);
    expect(own.checkpointer).toBe(checkpointer);
    const none = graph().compile({ checkpointer: false });
    const at = new HostStage({ openAgent: openLangGraphAgent, agent: none, sessions });
    const { agent: opened, end } = await at.turn('text hello');
    expect(opened.resumable).toBe(false);
    expect(end).toMatchObject({ outcome: 'completed' });
  });
});
