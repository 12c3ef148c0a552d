import { newId } from '../ids.ts';
import type { Queryable } from './transaction.ts';

export interface ThreadRow {
  readonly thread_id: string;
  readonly tenant_id: string;
  readonly title: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly head_seq: number;
  readonly active_run_id: string | null;
  /** The first delivery of the log that is still there. */
  readonly retained_from: number;
  readonly erasing_at: Date | null;
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** A thread of one tenant; null for a missing and for a foreign one alike (design, invariant 12). */
export async function threadOfTenant(db: Queryable, tenantId: string, threadId: string): Promise<ThreadRow | null> {
  const { rows } = await db.query<ThreadRow>({
    name: 'thread-of-tenant',
    text: 'select * from thread where thread_id = $1 and tenant_id = $2',
    values: [threadId, tenantId],
  });
  return rows[0] ?? null;
}

/** A thread by the name that its client gave it. */
export async function threadOfClient(
  db: Queryable,
  tenantId: string,
  clientThreadId: string,
): Promise<ThreadRow | null> {
  const { rows } = await db.query<ThreadRow>({
    name: 'thread-of-client',
    text: 'select * from thread where tenant_id = $1 and client_thread_id = $2',
    values: [tenantId, clientThreadId],
  });
  return rows[0] ?? null;
}

/** A tenant's threads, newest first, before one when it is given; `search` is a part of the title, in any case. */
export async function listThreads(
  db: Queryable,
  list: { tenantId: string; before: string | null; search: string | null; limit: number },
): Promise<ThreadRow[]> {
  const { rows } = await db.query<ThreadRow>({
    name: 'thread-list',
    text: `select * from thread
            where tenant_id = $1 and ($2::text is null or thread_id < $2)
              and ($3::text is null or position(lower($3) in lower(title)) > 0)
            order by thread_id desc
            limit $4`,
    values: [list.tenantId, list.before, list.search, list.limit],
  });
  return rows;
}

/** What a client says of a thread: what is left out stays as it is, or is empty in a new one. */
export interface ThreadFields {
  readonly title?: string | null | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

/** A thread without a run. */
export async function insertThread(db: Queryable, tenantId: string, fields: ThreadFields): Promise<ThreadRow> {
  const { rows } = await db.query<ThreadRow>({
    name: 'thread-create',
    text: `insert into thread (thread_id, tenant_id, title, metadata) values ($1, $2, $3, $4) returning *`,
    values: [newId('thread'), tenantId, fields.title ?? null, JSON.stringify(fields.metadata ?? {})],
  });
  if (rows[0] === undefined) throw new Error('a thread was not made');
  return rows[0];
}

/** Changes a thread of a tenant; null for a missing and for a foreign one alike, and for one that is being erased. */
export async function updateThread(
  db: Queryable,
  { tenantId, threadId, title, metadata }: ThreadFields & { tenantId: string; threadId: string },
): Promise<ThreadRow | null> {
  const { rows } = await db.query<ThreadRow>({
    name: 'thread-update',
    text: `update thread
              set title = case when $3 then $4 else title end, metadata = coalesce($5, metadata), updated_at = now()
            where thread_id = $1 and tenant_id = $2 and erasing_at is null
        returning *`,
    values: [
      threadId,
      tenantId,
      title !== undefined,
      title ?? null,
      metadata === undefined ? null : JSON.stringify(metadata),
    ],
  });
  return rows[0] ?? null;
}
