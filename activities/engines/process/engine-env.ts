import { delimiter, dirname } from 'node:path';
import { hostEnvironment } from '../../../infra/config.ts';
import type { EngineSettings } from '../../../infra/engine-settings.ts';

/** What a program needs to find itself on a machine and to reach the network, and nothing that is Tidemark's. */
const PASSED = new Set([
  ...['PATH', 'HOME', 'LANG', 'LANGUAGE', 'TERM', 'TZ', 'TMPDIR', 'SHELL', 'USER', 'LOGNAME'],
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'all_proxy', 'no_proxy'],
  ...['SSL_CERT_FILE', 'SSL_CERT_DIR', 'NODE_EXTRA_CA_CERTS', 'REQUESTS_CA_BUNDLE', 'CURL_CA_BUNDLE'],
]);
const PASSED_PREFIX = /^(LC|XDG)_/;

/** Tidemark's own: of no use to an engine, and a secret some of them. Only `env` sets one of these, by its words. */
const OWN = /^(DATABASE_URL$|TIDEMARK_|TEMPORAL_)/;

/**
 * The whole environment of an engine's process: what every program needs, the variables that `passEnv` names, what `env` sets,
 * then `extra`; later ones win. The Node that runs Tidemark comes first in PATH, so that engines that are Node scripts run on it.
 *
 * **Contract:** nothing else of this process's environment is in it, so no secret is that nobody named.
 */
export function engineEnv(
  settings: Pick<EngineSettings, 'passEnv' | 'env'>,
  extra: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const named = new Set(settings.passEnv);
  const isPassed = (name: string): boolean =>
    PASSED.has(name) || PASSED_PREFIX.test(name) || (named.has(name) && !OWN.test(name));
  const host = Object.entries(hostEnvironment()).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && isPassed(entry[0]),
  );
  const env: Record<string, string> = { ...Object.fromEntries(host), ...settings.env, ...extra };
  return { ...env, PATH: [dirname(process.execPath), env['PATH']].filter(Boolean).join(delimiter) };
}
