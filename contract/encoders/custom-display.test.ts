import { expect, it } from 'vitest';
import { displayText } from './custom-display.ts';

it('shows a text of up to 2,000 characters whole', () => {
  const text = 'x'.repeat(2_000);
  expect(displayText(text)).toBe(text);
});

it('cuts a longer one and says how many characters are missing', () => {
  expect(displayText('x'.repeat(2_345))).toBe(`${'x'.repeat(2_000)}...[345 chars]`);
});

it('counts code points, and cuts none in two', () => {
  expect(displayText('🧑'.repeat(1_500))).toBe('🧑'.repeat(1_500));
  expect(displayText('🧑'.repeat(2_001))).toBe(`${'🧑'.repeat(2_000)}...[1 chars]`);
});

it('leaves a text as it is that was cut before', () => {
  const cut = `${'x'.repeat(2_000)}...[98000 chars]`;
  expect(displayText(cut)).toBe(cut);
});
