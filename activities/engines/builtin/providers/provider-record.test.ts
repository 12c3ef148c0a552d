import { expect, it } from 'vitest';
import { providerOf } from './provider-record.ts';
import { createScripted } from './scripted.ts';

const whole = { ...createScripted() };

it('a whole record is a provider', () => {
  expect(providerOf(whole)).toBe(whole);
});

it.each(Object.keys(whole))('a record without %s is refused by that name', (field) => {
  const partial = Object.fromEntries(Object.entries(whole).filter(([name]) => name !== field));
  expect(() => providerOf(partial)).toThrow(`this cannot be a provider: ${field} is missing`);
});

it('every field that is of the wrong type is named', () => {
  expect(() => providerOf({ ...whole, name: '', complete: 'x', buildBody: {} })).toThrow(
    'this cannot be a provider: name must not be empty; complete must be a function; buildBody must be a function',
  );
  expect(() => providerOf(null)).toThrow(/^this cannot be a provider: the record /);
});
