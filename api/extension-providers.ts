import { newestCatalog } from '../infra/postgres/worker-catalog.ts';
import type { Gateway } from './gateway.ts';
import type { Offer } from './models.ts';

/** So long what the workers said is good enough. */
const KNOWN_FOR_MS = 2_000;

const known = new WeakMap<Gateway, { readonly atMs: number; readonly providers: Promise<readonly string[]> }>();

/** What runs may name: what the gateway is configured with, and what the workers' extensions have registered. */
export async function offerOf(gateway: Gateway): Promise<Offer> {
  const { config, engines } = gateway;
  return { config, engines, extensionProviders: await providersOf(gateway) };
}

async function providersOf(gateway: Gateway): Promise<readonly string[]> {
  const last = known.get(gateway);
  if (last !== undefined && performance.now() - last.atMs < KNOWN_FOR_MS) return await last.providers;
  const providers = newestCatalog(gateway.pool).then((catalog) => catalog?.providers ?? []);
  known.set(gateway, { atMs: performance.now(), providers });
  providers.catch(() => known.delete(gateway));
  return await providers;
}
