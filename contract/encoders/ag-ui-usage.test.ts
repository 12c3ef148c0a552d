import { expect, it } from 'vitest';
import { countUsage, totalUsage } from './ag-ui-usage.ts';

const call = { input_tokens: 10, output_tokens: null, cached_input_tokens: 4, final: false } as const;

it('takes the newest report as the total, and keeps what it leaves unsaid', () => {
  const two = countUsage(countUsage({}, call), { input_tokens: 25, output_tokens: 3, final: false });
  expect(two).toEqual({ inputTokens: 25, outputTokens: 3, cachedInputTokens: 4 });
});

it('never invents a zero: what nobody reported stays absent, and without both totals there is no sum', () => {
  expect(totalUsage([])).toBeNull();
  expect(totalUsage([countUsage({}, { final: false })])).toBeNull();
  expect(totalUsage([countUsage({}, call)])).toEqual({ inputTokens: 10, cachedInputTokens: 4 });
  expect(totalUsage([{ inputTokens: 1, outputTokens: 2 }, { inputTokens: 10 }])).toEqual({
    ...{ inputTokens: 11, outputTokens: 2, totalTokens: 13 },
  });
});
