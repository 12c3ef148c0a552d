import { expect, it } from 'vitest';
import { contextWindow } from './context-window.ts';

it('a context is what the run says, else the configuration, else a guess by its name', () => {
  const settings = { contextTokens: 50_000 };
  const sizes = [
    contextWindow('gpt-4o-mini', settings, { context_tokens: 30_000 }),
    contextWindow('gpt-4o-mini', settings, {}),
    contextWindow('claude-opus-5', {}, {}),
    contextWindow('somebody/llama', {}, {}),
  ].map(({ contextTokens, isTold }) => [contextTokens, isTold]);
  expect(sizes).toEqual([
    [30_000, true],
    [50_000, true],
    [200_000, false],
    [128_000, false],
  ]);
});

it('an answer has what the configuration gives it, but not all of a small context', () => {
  expect(contextWindow('claude-opus-5', {}, {})).toMatchObject({ maxOutputTokens: 16_384, compactOverTokens: 146_892 });
  expect(contextWindow('m', { maxOutputTokens: 64_000 }, {}).maxOutputTokens).toBe(64_000);
  expect(contextWindow('m', { maxOutputTokens: 64_000 }, { context_tokens: 8_000 })).toMatchObject({
    maxOutputTokens: 4_000,
    compactOverTokens: 3_200,
  });
});
