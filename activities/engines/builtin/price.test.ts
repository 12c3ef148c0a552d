import { expect, it } from 'vitest';
import type { AssistantMessage } from '../../../contract/agent-messages.ts';
import { totalUsage } from '../../stepped/total-usage.ts';
import { withCost } from './price.ts';

const usage = { input: 1_000, output: 200, cacheRead: 10_000, cacheWrite: 500 };
const answer: AssistantMessage = { role: 'assistant', content: [], usage, timestamp: 0 };
const price = { inputPerMillion: 3, outputPerMillion: 15 };

it('an answer costs what its counters do, each at its own price', () => {
  const cached = { ...price, cacheReadPerMillion: 0.3, cacheWritePerMillion: 3.75 };
  expect(withCost(answer, cached).usage?.costUsd).toBe(0.010875);
});

it('what a cache gives and takes costs as other input where nothing else is said', () => {
  expect(withCost(answer, price).usage?.costUsd).toBe(0.0375);
});

it('an answer without usage, or of a model without a price, has no cost', () => {
  expect(withCost(answer, undefined)).toBe(answer);
  const { usage: _, ...silent } = answer;
  expect(withCost(silent, price)).toBe(silent);
});

it('the costs of calls add up to the cent and below', () => {
  const calls = Array.from({ length: 3 }, () => ({ input: 1, costUsd: 0.1 }));
  expect(totalUsage(calls)).toEqual({ input: 3, costUsd: 0.3 });
  expect(totalUsage([{ input: 1 }])).toEqual({ input: 1 });
  expect(totalUsage([])).toBeUndefined();
});
