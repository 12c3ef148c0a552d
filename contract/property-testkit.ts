import fc from 'fast-check';
import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** TIDEMARK_PROPERTY_SEED: what random inputs are made of. */
    readonly propertySeed: number;
  }
}

/**
 * fast-check, with the seed of this test run: the same commit gets the same verdict twice, and another seed looks elsewhere.
 */
fc.configureGlobal({ seed: inject('propertySeed') });

export { fc };
