import { fc } from '../property-testkit.ts';
import { expect, it } from 'vitest';
import { extendArguments, NO_ARGUMENTS, parseArguments } from './lifecycle-arguments.ts';

const anyObject = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue(), { noNullPrototype: true });

it('is whole with the last character of the object and not before, however the text is cut', () => {
  fc.assert(
    fc.property(anyObject, fc.array(fc.nat(), { maxLength: 5 }), (value, cuts) => {
      const json = ` ${JSON.stringify(value)}`;
      const at = [...cuts.map((cut) => cut % json.length), json.length].toSorted((a, b) => a - b);
      let args = NO_ARGUMENTS;
      let from = 0;
      for (const to of at) {
        args = extendArguments(args, json.slice(from, to));
        expect(args.isWhole).toBe(to === json.length);
        from = to;
      }
      expect(JSON.stringify(parseArguments(args))).toBe(JSON.stringify(value));
      expect(extendArguments(args, ' \n{"more":1}')).toBe(args);
    }),
  );
});

it('never takes for whole what is no object', () => {
  for (const text of ['', 'null', '12', '"{}"', 'ERROR: no }']) {
    const args = extendArguments(NO_ARGUMENTS, text);
    expect(parseArguments(args), text).toBeNull();
  }
});
