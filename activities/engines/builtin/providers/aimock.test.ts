import { LLMock } from '@copilotkit/aimock';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AgentContext, AssistantMessage, Message } from '../../../../contract/agent-messages.ts';
import { builtinTools } from '../tools/registry.ts';
import { createAnthropicMessages } from './anthropic-messages.ts';
import { createOpenAICodex } from './openai-codex.ts';
import { createOpenAICompletions } from './openai-completions.ts';
import { createOpenAIResponses } from './openai-responses.ts';
import { fixedKey } from './testing/fixed-key.ts';

const mock = new LLMock({ port: 0 });

beforeAll(async () => {
  mock.onToolResult('call_other', { content: 'It rains in London.' });
  mock.onMessage('weather', {
    reasoning: 'Two things to look up.',
    toolCalls: [
      { id: 'call_weather', name: 'list_files', arguments: '{"path":"."}' },
      { id: 'call_other', name: 'read_file', arguments: '{"path":"a.txt"}' },
    ],
  });
  mock.onMessage('hello', { content: 'Hi there! 🌍', reasoning: 'A greeting.' });
  await mock.start();
});
afterAll(async () => await mock.stop());

const settings = { name: 'vendor', auth: fixedKey('mock-key') };
const user = (content: string): Message => ({ role: 'user', content, timestamp: 1 });

describe.each([
  ['openai-completions', 'gpt-5-mini', () => createOpenAICompletions({ ...settings, baseUrl: `${mock.url}/v1` })],
  ['openai-responses', 'gpt-5-mini', () => createOpenAIResponses({ ...settings, baseUrl: `${mock.url}/v1` })],
  ['openai-codex', 'gpt-5-codex', () => createOpenAICodex({ ...settings, baseUrl: `${mock.url}/v1` })],
  [
    'anthropic-messages',
    'claude-sonnet-5-5',
    () => createAnthropicMessages({ ...settings, baseUrl: mock.url, thinking: 2_000 }),
  ],
] as const)('against an independent model server, %s', (_api, model, create) => {
  async function ask(...messages: Message[]): Promise<AssistantMessage> {
    const context: AgentContext = { messages, tools: [...builtinTools().values()], maxTokens: 4_000 };
    const signal = new AbortController().signal;
    return await create().complete(model, context, { signal, stallMs: 5_000, toolCallId: (n) => `tc_${String(n)}` });
  }

  it('an answer with reasoning comes whole', async () => {
    expect(await ask(user('hello'))).toMatchObject({
      stopReason: 'stop',
      content: [
        { type: 'thinking', thinking: 'A greeting.', thinkingSignature: expect.any(String) as string },
        { type: 'text', text: 'Hi there! 🌍' },
      ],
      usage: { output: expect.any(Number) as number },
    });
  });

  it('tool calls, their results and the reasoning before them make the round trip', async () => {
    const asked = await ask(user('weather'));
    expect(asked).toMatchObject({
      stopReason: 'tool-use',
      content: [
        { type: 'thinking', thinking: 'Two things to look up.' },
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
    // Anthropic's refuses a tool loop whose reasoning is not echoed
    const answer = await ask(user('weather'), asked, ...results.toReversed());
    expect(answer.stopReason).toBe('stop');
    expect(answer.content.at(-1)).toEqual({ type: 'text', text: 'It rains in London.' });
  });
});
