import type { ExtensionAnswer, ExtensionCallKind } from '../../contract/extension-call.ts';
import { newId } from '../ids.ts';
import type { Queryable } from './transaction.ts';

/** The channel on which workers hear that a call waits. */
export const EXTENSION_CALL_CHANNEL = 'tidemark_extension_call';
/** The channel on which they hear that the extensions are to be loaded anew. */
export const RELOAD_CHANNEL = 'tidemark_reload';

export interface ExtensionCallRow {
  readonly call_id: string;
  readonly tenant_id: string;
  readonly thread_id: string | null;
  readonly kind: ExtensionCallKind;
  readonly name: string;
  /** JSON text. */
  readonly arguments: string;
}

/** Puts a call where a worker finds it, and tells the workers. Gives its id. */
export async function insertExtensionCall(
  db: Queryable,
  call: { tenantId: string; threadId: string | null; kind: ExtensionCallKind; name: string; args: unknown },
): Promise<string> {
  const callId = newId('extensionCall');
  await db.query({
    name: 'extension-call-insert',
    text: `with told as (
             insert into extension_call (call_id, tenant_id, thread_id, kind, name, arguments)
             values ($1, $2, $3, $4, $5, $6)
           )
           select pg_notify($7, $1)`,
    values: [
      callId,
      call.tenantId,
      call.threadId,
      call.kind,
      call.name,
      JSON.stringify(call.args),
      EXTENSION_CALL_CHANNEL,
    ],
  });
  return callId;
}

/**
 * Takes calls that wait, oldest first, for `leaseSeconds`.
 *
 * **Contract:** a call is taken once, whoever asks: what it does may not be repeated.
 */
export async function claimExtensionCalls(
  db: Queryable,
  { limit, leaseSeconds }: { limit: number; leaseSeconds: number },
): Promise<ExtensionCallRow[]> {
  const { rows } = await db.query<ExtensionCallRow>({
    name: 'extension-call-claim',
    text: `update extension_call set state = 'running', lease_until = now() + make_interval(secs => $2)
            where call_id in (select call_id from extension_call where state = 'queued'
                               order by created_at limit $1 for update skip locked)
           returning call_id, tenant_id, thread_id, kind, name, arguments`,
    values: [limit, leaseSeconds],
  });
  return rows;
}

export async function extendExtensionCalls(
  db: Queryable,
  callIds: readonly string[],
  leaseSeconds: number,
): Promise<void> {
  await db.query({
    name: 'extension-call-extend',
    text: `update extension_call set lease_until = now() + make_interval(secs => $2)
            where call_id = any ($1) and state = 'running'`,
    values: [callIds, leaseSeconds],
  });
}

/** Keeps a call's answer; the first one stays. */
export async function answerExtensionCall(db: Queryable, callId: string, answer: ExtensionAnswer): Promise<void> {
  await db.query({
    name: 'extension-call-answer',
    text: `update extension_call set state = 'done', answer = $2 where call_id = $1 and state <> 'done'`,
    values: [callId, JSON.stringify(answer)],
  });
}

/** Answers the calls whose worker is gone, and those that no worker took in time. */
export async function endLostExtensionCalls(
  db: Queryable,
  { lost, untaken, untakenSeconds }: { lost: ExtensionAnswer; untaken: ExtensionAnswer; untakenSeconds: number },
): Promise<void> {
  await db.query({
    name: 'extension-call-lost',
    text: `update extension_call
              set state = 'done', answer = case state when 'running' then $1 else $2 end
            where (state = 'running' and lease_until < now())
               or (state = 'queued' and created_at < now() - make_interval(secs => $3))`,
    values: [JSON.stringify(lost), JSON.stringify(untaken), untakenSeconds],
  });
}

/** The answer of a call, which then is gone: an answer is for one reader. Null while there is none. */
export async function takeExtensionAnswer(db: Queryable, callId: string): Promise<ExtensionAnswer | null> {
  const { rows } = await db.query<{ answer: string }>({
    name: 'extension-call-take',
    text: `delete from extension_call where call_id = $1 and state = 'done' returning answer`,
    values: [callId],
  });
  return rows[0] === undefined ? null : (JSON.parse(rows[0].answer) as ExtensionAnswer);
}

/** Removes what nobody came for. */
export async function removeOldExtensionCalls(db: Queryable): Promise<void> {
  await db.query({
    name: 'extension-call-remove-old',
    text: `delete from extension_call where created_at < now() - interval '1 hour'`,
  });
}

/** Tells every worker to load its extensions anew. */
export async function tellReload(db: Queryable): Promise<void> {
  await db.query({ name: 'extension-reload', text: 'select pg_notify($1, $2)', values: [RELOAD_CHANNEL, ''] });
}
