import type { Queryable } from './transaction.ts';

export interface ListedSession {
  readonly thread_id: string;
  readonly created_at: Date;
}

/** A tenant's threads that hold a message, the newest begun first, from the n-th on. */
export async function listSessions(
  db: Queryable,
  { tenantId, from, limit }: { tenantId: string; from: number; limit: number },
): Promise<ListedSession[]> {
  const { rows } = await db.query<ListedSession>({
    name: 'session-list',
    text: `select thread_id, created_at from thread t
            where tenant_id = $1
              and exists (select 1 from run join message using (run_id) where run.thread_id = t.thread_id)
            order by thread_id desc
           offset $2
            limit $3`,
    values: [tenantId, from, limit],
  });
  return rows;
}

/** Those of them whose id begins so. */
export async function sessionsByPrefix(
  db: Queryable,
  { tenantId, prefix, limit }: { tenantId: string; prefix: string; limit: number },
): Promise<ListedSession[]> {
  const { rows } = await db.query<ListedSession>({
    name: 'session-by-prefix',
    text: `select thread_id, created_at from thread t
            where tenant_id = $1 and starts_with(thread_id, $2)
              and exists (select 1 from run join message using (run_id) where run.thread_id = t.thread_id)
            order by thread_id desc
            limit $3`,
    values: [tenantId, prefix, limit],
  });
  return rows;
}

/** A thread for a session that begins; it is listed once it holds a message. */
export async function beginSessionThread(db: Queryable, threadId: string, tenantId: string): Promise<void> {
  await db.query({
    name: 'session-begin-thread',
    text: 'insert into thread (thread_id, tenant_id) values ($1, $2) on conflict do nothing',
    values: [threadId, tenantId],
  });
}
