import { expect, it } from 'vitest';
import { shownValue, thrownText } from './shown-value.ts';

it.each([
  ['a text', 'plain', 'plain'],
  ['nothing', undefined, ''],
  ['a value of a kind', { type: 'text', value: 'inside' }, 'inside'],
  ['blocks', [{ type: 'text', text: 'a' }, { type: 'image' }, { type: 'text', text: 'b' }], 'a\nb'],
  ['an object of blocks', { content: [{ type: 'text', text: 'a' }] }, 'a'],
  ['blocks without text', [{ type: 'image' }], '[{"type":"image"}]'],
  ['any other object', { exitCode: 1 }, '{"exitCode":1}'],
])('shows %s', (_, value, shown) => {
  expect(shownValue(value)).toBe(shown);
});

it('shows the beginning of what is long', () => {
  expect(shownValue('x'.repeat(2_001))).toBe(`${'x'.repeat(2_000)}...[1 chars]`);
});

it.each([
  ['an error', { name: 'Error', message: 'no' }, 'no'],
  ['a text', 'no', 'no'],
  ['an object', { code: 1 }, '{"code":1}'],
])('says what %s says that was thrown', (_, error, text) => {
  expect(thrownText(error)).toBe(text);
});
