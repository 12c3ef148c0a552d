import { setTimeout as sleep } from 'node:timers/promises';
import type { Response } from 'express';
import { TidemarkError } from '../contract/errors.ts';
import { EXTENSION_CALL_LIMIT_MS, type ExtensionCallKind } from '../contract/extension-call.ts';
import { insertExtensionCall, takeExtensionAnswer } from '../infra/postgres/extension-call.ts';
import type { Gateway } from './gateway.ts';

/** An answer is looked for soon at first, then less often. */
const LOOK_MS = { first: 5, most: 250 };
/** Beyond the call's own limit: so long until somebody has answered for a worker that is lost. */
const GRACE_MS = 40_000;

/**
 * Has a worker carry out what a client asks of the extensions, and gives what it answered.
 *
 * **Contract:** a client that leaves is not waited for, and its call goes on. The worker's problem is thrown as it is.
 */
export async function askWorker(
  { pool }: Pick<Gateway, 'pool'>,
  call: { tenantId: string; threadId: string | null; kind: ExtensionCallKind; name: string; args: unknown },
  res: Response,
): Promise<{ result: unknown; events: readonly object[] }> {
  const gone = new AbortController();
  res.on('close', () => gone.abort());
  const over = AbortSignal.any([gone.signal, AbortSignal.timeout(EXTENSION_CALL_LIMIT_MS[call.kind] + GRACE_MS)]);
  const callId = await insertExtensionCall(pool, call);
  for (let waitMs = LOOK_MS.first; !over.aborted; waitMs = Math.min(waitMs * 1.5, LOOK_MS.most)) {
    const answer = await takeExtensionAnswer(pool, callId);
    if (answer?.ok === true) return { result: answer.result, events: answer.events };
    if (answer !== null) throw new TidemarkError(answer.code, answer.message, answer.remedy);
    await sleep(waitMs, undefined, { signal: over }).catch(() => undefined);
  }
  throw new TidemarkError(
    'unavailable',
    'no worker has answered in time',
    'See whether the workers are there; then ask again.',
  );
}
