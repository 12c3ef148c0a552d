import { join } from 'node:path';
import type { HostedKind } from '../../../infra/engine-settings.ts';

/** Where a host hears its driver, and where it speaks to it. */
export const PROTOCOL_IN_FD = 5;
export const PROTOCOL_OUT_FD = 4;

/**
 * The protocol is moved away from the standard streams, so that neither `console.log` of the module nor a program that it starts can
 * write into it or read from it: its output is the engine's standard error.
 */
const APART = `exec "$@" ${PROTOCOL_OUT_FD}>&1 1>&2 ${PROTOCOL_IN_FD}<&0 0</dev/null`;

/** The command of a host. */
export function hostCommand(kind: HostedKind, module: string): readonly string[] {
  const main = join(import.meta.dirname, 'host-main.ts');
  const node = [process.execPath, '--experimental-import-meta-resolve', main, kind, module];
  return ['/bin/sh', '-c', APART, 'tidemark-host', ...node];
}
