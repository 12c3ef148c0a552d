import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';

/** Something that runs a statement: a pool for one, a client inside a transaction for many. */
export type Queryable = Pick<pg.ClientBase, 'query'>;

/** A connection was lost during COMMIT and the server could not be asked in time: the work may be stored or not. */
export class CommitUnknownError extends Error {
  constructor(cause: unknown) {
    super('the connection was lost while the transaction committed, and the server could not be asked', { cause });
    this.name = 'CommitUnknownError';
  }
}

/**
 * Runs `work` in one transaction.
 *
 * **Contract:** what `work` throws rolls back and is thrown on. A connection lost during COMMIT is resolved by asking the
 * server what became of the transaction (`pg_xact_status`): committed returns the result, aborted throws the loss, and
 * only a server that stays away for `askForMs` gives `CommitUnknownError`.
 */
export async function inTransaction<T>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<T>,
  { askForMs = 30_000 }: { askForMs?: number } = {},
): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  const noteLoss = (error: Error): void => {
    broken = error;
  };
  client.on('error', noteLoss);
  try {
    await client.query('begin');
    let result: T;
    let xid: string | null;
    try {
      result = await work(client);
      xid = await transactionId(client);
    } catch (error) {
      await client.query('rollback').catch(noteLoss);
      throw error;
    }
    try {
      const ended = await client.query('commit');
      // a COMMIT of an aborted transaction answers ROLLBACK
      if (ended.command !== 'COMMIT') throw new Error('the server rolled the transaction back at commit');
    } catch (error) {
      broken ??= error as Error;
      if (xid === null || !isConnectionLoss(error)) throw error;
      if ((await fateOf(pool, xid, askForMs, error)) !== 'committed') throw error;
    }
    return result;
  } finally {
    client.off('error', noteLoss);
    client.release(broken);
  }
}

/** True for a lost connection or a server that is starting or stopping: worth another try on another connection. */
export function isConnectionLoss(error: unknown): boolean {
  const { code, message } = error as { code?: string; message?: string };
  if (code !== undefined && /^(08|57P0|ECONN|EPIPE|ENOTFOUND|ETIMEDOUT|EHOSTUNREACH)/.test(code)) return true;
  return /Connection terminated|connection error and is not queryable|connection timeout|timeout exceeded when trying to connect/i.test(
    message ?? '',
  );
}

async function transactionId(client: pg.PoolClient): Promise<string | null> {
  const text = 'select pg_current_xact_id_if_assigned()::text as xid';
  const { rows } = await client.query<{ xid: string | null }>({ name: 'transaction-id', text });
  return rows[0]?.xid ?? null;
}

async function fateOf(pool: pg.Pool, xid: string, askForMs: number, cause: unknown): Promise<string> {
  const giveUpAt = Date.now() + askForMs;
  for (;;) {
    try {
      const { rows } = await pool.query<{ status: string | null }>('select pg_xact_status($1::xid8) as status', [xid]);
      const status = rows[0]?.status ?? 'aborted';
      if (status !== 'in progress') return status;
    } catch (error) {
      if (!isConnectionLoss(error)) throw error;
    }
    if (Date.now() > giveUpAt) throw new CommitUnknownError(cause);
    await sleep(200);
  }
}
