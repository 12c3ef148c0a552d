import { setTimeout as sleep } from 'node:timers/promises';
import type { Readable } from 'node:stream';
import type { TidemarkError } from '../../../contract/errors.ts';
import { linesOf } from '../wire/json-lines.ts';
import type { ServerClient } from './server-client.ts';

/** What it prints when it listens. Anything but this machine's own address is not gone to. */
const LISTENING = /\blistening on (http:\/\/(?:127\.0\.0\.1|localhost):\d+)\b/;
/** A request that comes while the server still starts may never be answered: the next one is. */
const HEALTHY_WITHIN_MS = 2_000;
const LOOK_EVERY_MS = 50;

/** The address at which a server that was just started listens. Rejects with `gone` when it has ended before. */
export async function addressOf(stdout: Readable, gone: Promise<TidemarkError>): Promise<string> {
  const printed = await Promise.race([addressIn(stdout), gone]);
  if (typeof printed === 'string') return printed;
  throw printed ?? (await gone);
}

/** Resolves when the server answers. Rejects with `gone` when it has ended before. */
export async function healthy(client: ServerClient, gone: Promise<TidemarkError>): Promise<void> {
  for (;;) {
    const answer = await client
      .call({ method: 'GET', path: '/global/health' }, AbortSignal.timeout(HEALTHY_WITHIN_MS))
      .catch(() => null);
    if (answer?.status === 200) return;
    const fault = await Promise.race([gone, sleep(LOOK_EVERY_MS, null)]);
    if (fault !== null) throw fault;
  }
}

/** Reads on behind it: a process whose output nobody takes stands still. Null when the output ends without an address. */
async function addressIn(stdout: Readable): Promise<string | null> {
  return await new Promise((resolve) => {
    const read = async (): Promise<void> => {
      for await (const line of linesOf(stdout)) {
        const address = LISTENING.exec(line)?.[1];
        if (address !== undefined) resolve(address);
      }
    };
    void read()
      .catch(() => undefined)
      .then(() => resolve(null));
  });
}
