import { expect, test } from 'vitest';
import { faultText } from './fault-text.ts';

test.each([
  ['with the sentence that the server gave', '500: {"message":"overloaded","type":"server_error"}', '500: overloaded'],
  ['as it is where the server gave none', '500: {"detail":"no"}', '500: {"detail":"no"}'],
  ['as it is where that is no JSON', '500: {"message":', '500: {"message":'],
  ['as a sentence', '400 scripted bad request', '400 scripted bad request'],
  ['with a reason where pi gives none', null, 'the engine gives no reason'],
])('a failure is shown %s', (_, message, shown) => {
  expect(faultText(message)).toBe(shown);
});
