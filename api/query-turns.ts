import type { Queryable } from '../infra/postgres/transaction.ts';

/**
 * The same database, asked by at most `atOnce` at a time; the others wait their turn.
 *
 * A thousand clients that come back at once are a thousand replays: without turns the live tails and every REST call
 * would stand in the pool's queue behind them.
 */
export function inTurns(db: Queryable, atOnce: number): Queryable {
  const waiting: (() => void)[] = [];
  let free = atOnce;
  const query = async (...args: unknown[]): Promise<unknown> => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => void waiting.push(resolve));
    try {
      return await (db.query as (...args: unknown[]) => Promise<unknown>).apply(db, args);
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
  return { query: query as Queryable['query'] };
}
