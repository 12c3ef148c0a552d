import { expect, test } from 'vitest';
import { faultText } from './fault-text.ts';

test.each([
  ['the sentence in an answer of the model server', '{"error":{"message":"bad request","code":null}}', 'bad request'],
  ['JSON without one as it is', '{"detail":"no"}', '{"detail":"no"}'],
  ['what only begins like JSON as it is', '{"error":', '{"error":'],
  [
    'the address of the model server left out',
    'unexpected status 529: Overloaded, url: http://127.0.0.1:4103/v1/responses, request id: req-1',
    'unexpected status 529: Overloaded, request id: req-1',
  ],
  [
    'an address within a sentence hidden',
    'error sending request for url (https://models.internal:8443/v1?key=abc) after 2 tries',
    'error sending request for url ([address]) after 2 tries',
  ],
  [
    'what looks like a key hidden',
    'Incorrect API key provided: sk-live-0123456789.',
    'Incorrect API key provided: [secret]',
  ],
  ['lines as one', 'one\n  two\u0000three', 'one   two three'],
  ['a reason where the engine gives none', '', 'the engine gives no reason'],
])('a failure is shown with %s', (_, message, shown) => {
  expect(faultText(message)).toBe(shown);
});

test('a failure of any length is shown bounded', () => {
  expect(faultText('x'.repeat(100_000)).length).toBeLessThanOrEqual(500);
  expect(faultText(undefined)).toBe('the engine gives no reason');
});
