import { LLMock } from '@copilotkit/aimock';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AgentContext, Message } from '../../../../contract/agent-messages.ts';
import { builtinTools } from '../tools/registry.ts';
import { createOpenAICompletions } from './openai-completions.ts';
import type { Provider } from './provider.ts';

const mock = new LLMock({ port: 0 });
let provider: Provider;

beforeAll(async () => {
  mock.onToolResult('call_other', { content: 'It rains in London.' });
  mock.onMessage('weather', {
    toolCalls: [
      { id: 'call_weather', name: 'list_files', arguments: '{"path":"."}' },
      { id: 'call_other', name: 'read_file', arguments: '{"path":"a.txt"}' },
    ],
  });
  mock.onMessage('hello', { content: 'Hi there! 🌍', reasoning: 'A greeting.' });
  await mock.start();
  provider = createOpenAICompletions({ name: 'openai', apiKey: 'mock-key', baseUrl: `${mock.url}/v1` });
});
afterAll(async () => await mock.stop());

async function ask(...messages: Message[]) {
  const context: AgentContext = { messages, tools: [...builtinTools().values()], maxTokens: 1_000 };
  const options = {
    signal: new AbortController().signal,
    stallMs: 5_000,
    toolCallId: (n: number) => `tc_${String(n)}`,
  };
  return await provider.complete('gpt-5-mini', context, options);
}

const user = (content: string): Message => ({ role: 'user', content, timestamp: 1 });

describe('against an independent model server', () => {
  it('an answer with reasoning comes whole', async () => {
    expect(await ask(user('hello'))).toMatchObject({
      stopReason: 'stop',
      content: [
        { type: 'thinking', thinking: 'A greeting.' },
        { type: 'text', text: 'Hi there! 🌍' },
      ],
      usage: { output: expect.any(Number) as number },
    });
  });

  it('tool calls and their results make the round trip', async () => {
    const asked = await ask(user('weather'));
    expect(asked).toMatchObject({
      stopReason: 'tool-use',
      content: [
        { type: 'tool-call', id: 'tc_0', nativeId: 'call_weather', arguments: { path: '.' } },
        { type: 'tool-call', id: 'tc_1', nativeId: 'call_other', arguments: { path: 'a.txt' } },
      ],
    });
    const results = asked.content.flatMap((block): Message[] =>
      block.type === 'tool-call'
        ? [
            {
              role: 'tool-result',
              toolCallId: block.id,
              toolName: block.name,
              content: [],
              isError: false,
              timestamp: 1,
            },
          ]
        : [],
    );
    const answer = await ask(user('weather'), asked, ...results.toReversed());
    expect(answer).toMatchObject({ stopReason: 'stop', content: [{ type: 'text', text: 'It rains in London.' }] });
  });
});
