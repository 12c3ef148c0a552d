import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { TidemarkError } from '../../../contract/errors.ts';
import type { LifecycleAdapter } from './adapter.ts';
import type { AdapterPeer, StreamSignals } from './peer.ts';

/**
 * An adapter in this process: the exports of a module.
 *
 * @throws TidemarkError `engine_unavailable`, from each call: there is no such module, or it lacks an export.
 */
export function modulePeer(name: string, path: string): AdapterPeer {
  const loaded = (): Promise<LifecycleAdapter> => load(name, path);
  return {
    capabilities: async () => (await loaded()).capabilities,
    async *stream(request, signals) {
      yield* (await loaded()).stream(request, { signal: eitherOf(signals) });
    },
    async *resume(request, signals) {
      yield* (await loaded()).resume(request, { signal: eitherOf(signals) });
    },
    cancel: async (request) => await (await loaded()).cancel?.(request),
    close: () => Promise.resolve(),
  };
}

function eitherOf({ cancelled, abandoned }: StreamSignals): AbortSignal {
  return AbortSignal.any([cancelled, abandoned]);
}

async function load(name: string, path: string): Promise<LifecycleAdapter> {
  let exported: Partial<LifecycleAdapter>;
  try {
    exported = (await import(pathToFileURL(resolve(path)).href)) as Partial<LifecycleAdapter>;
  } catch (error) {
    throw unavailable(name, 'its module cannot be loaded', error);
  }
  if (typeof exported.stream === 'function' && typeof exported.resume === 'function')
    return exported as LifecycleAdapter;
  throw unavailable(name, 'its module does not export stream and resume', undefined);
}

function unavailable(name: string, what: string, cause: unknown): TidemarkError {
  const remedy = `Look at engines.${name}.module in tidemark.config.ts; activities/engines/lifecycle/adapter.ts has what it exports.`;
  return new TidemarkError('engine_unavailable', `the engine ${name} cannot be started: ${what}`, remedy, { cause });
}
