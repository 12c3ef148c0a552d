import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { LLMock, type ChatCompletionRequest } from '@copilotkit/aimock';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { cleared } from '../../activities/engines/driver-testkit.ts';
import type { EngineAnswer } from '../../activities/engines/driver.ts';
import { stage, type Stage } from '../../activities/engines/hosted/driver-testkit.ts';
import type { HostedKind } from '../../infra/engine-settings.ts';

const mock = new LLMock({ port: 0, logLevel: 'silent' });

beforeAll(async () => {
  scripted('Note it', 'write_note', { name: 'boat', text: 'It leaves at nine.' });
  scripted('Refund it', 'refund', { order: 'order-7', cents: 500 });
  await mock.start();
});
afterEach(cleared);
afterAll(async () => {
  await mock.stop();
});

/** A model that is told `prompt` calls a tool, and then says what came of it. */
function scripted(prompt: string, name: string, args: object): void {
  const results = ({ messages }: ChatCompletionRequest) => messages.filter(({ role }) => role === 'tool');
  mock.on({ predicate: ({ messages }) => messages.some(({ content }) => content === prompt) }, (chat) => {
    const [result] = results(chat);
    if (result !== undefined) return { content: `Done: ${JSON.stringify(result.content)}` };
    return { content: 'I begin.', toolCalls: [{ id: 'call_1', name, arguments: JSON.stringify(args) }] };
  });
}

async function example(kind: HostedKind, module: string): Promise<Stage> {
  const env = { OPENAI_BASE_URL: `${mock.url}/v1`, OPENAI_API_KEY: 'none' };
  return await stage(kind, { module: resolve('examples', module), env });
}

test('the notes of the AI SDK example are written when they are approved', async () => {
  const at = await example('ai-sdk', 'ai-sdk-agent/notes.ts');
  at.answer = () => Promise.resolve({ status: 'approved', always: false });
  const { end, session } = await at.turn('Note it');
  expect(end).toEqual({ outcome: 'completed', stopReason: 'end_turn' });
  expect(session.capabilities).toMatchObject({ resume: true, modelSelection: true });
  expect(at.questions).toMatchObject([{ toolName: 'write_note', arguments: { name: 'boat' } }]);
  expect(at.said()).toContain('boat is written.');
  expect(await readFile(join(at.workspace, 'boat.md'), 'utf8')).toBe('It leaves at nine.');
});

test('the refunds of the LangGraph example are asked about, and may be lowered', async () => {
  const at = await example('langgraph', 'langgraph-agent/refunds.ts');
  const answers: EngineAnswer[] = [
    { status: 'answered', values: { answer: 'late' } },
    { status: 'edited', arguments: { order: 'order-7', cents: 300 } },
  ];
  at.answer = () => Promise.resolve(answers.shift() ?? { status: 'cancelled' });
  expect((await at.turn('Refund it')).end).toMatchObject({ outcome: 'completed' });
  expect(at.questions).toMatchObject([
    { kind: 'question', prompt: 'Why is order-7 refunded?' },
    { kind: 'approval', toolCallId: 'call_1', prompt: 'Refund 500 cents of order-7 (late)' },
  ]);
  expect(JSON.stringify(at.frames)).toContain('Refunded 300 cents of order-7 (late)');
});
