import { expect, it } from 'vitest';
import type { AssistantMessage, Message, Usage } from '../../../../contract/agent-messages.ts';
import { contextTokens, tokensOfText } from './context-tokens.ts';

const user = (content: string): Message => ({ role: 'user', content, timestamp: 0 });
const said = (usage?: Usage): AssistantMessage => ({
  role: 'assistant',
  content: [{ type: 'text', text: 'x'.repeat(40) }],
  timestamp: 0,
  ...(usage === undefined ? {} : { usage }),
});
const current = (...messages: Message[]) => messages.map((message) => ({ message, isCurrent: true }));

it('a text is a token for every four bytes', () => {
  expect([tokensOfText(''), tokensOfText('abcde'), tokensOfText('你好')]).toEqual([0, 2, 2]);
});

it('a context is estimated where nothing is reported, with what is sent beside it', () => {
  expect(contextTokens(current(user('y'.repeat(400)), said()), 1_000)).toBe(1_000 + 104 + 14);
});

it('a context is what the newest answer reports, and an estimate of what came after it', () => {
  const usage = { input: 500, cacheRead: 2_000, cacheWrite: 100, output: 70 };
  const entries = current(user('long ago'), said({ input: 1 }), said(usage), user('y'.repeat(400)));
  expect(contextTokens(entries, 1_000)).toBe(2_670 + 104);
});

it('a report of another view of the conversation, or one without its prompt, counts for nothing', () => {
  const old = { message: said({ input: 90_000, output: 1 }), isCurrent: false };
  expect(contextTokens([old, ...current(said({ output: 5 }))], 0)).toBe(28);
});
