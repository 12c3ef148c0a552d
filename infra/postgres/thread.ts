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
