import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { inject } from 'vitest';
import { NAMESPACES } from './namespace-names.ts';

/** A Temporal namespace that no other caller of this test run has; making a folder is what decides between two workers. */
export async function takeNamespace(): Promise<string> {
  for (const name of NAMESPACES) {
    const taken = await mkdir(join(inject('scratch'), `namespace-${name}`)).then(
      () => true,
      () => false,
    );
    if (taken) return name;
  }
  throw new Error('every test namespace is taken: raise their number in infra/testing/namespace-names.ts');
}
