import { control } from './proxies.ts';

/** One sweep, started by the schedule `tidemark-sweep`: ends what nobody else will end. */
export async function sweep(): Promise<{ settled: number; canonicalized: number }> {
  return await control.sweep();
}
