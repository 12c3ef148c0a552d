import { WorkerCatalog } from '../../contract/extension-call.ts';
import type { Queryable } from './transaction.ts';

/** A worker that has not said anything for so long is not asked for. */
const SEEN_SECONDS = 60;

/** A worker says what it has loaded, and that it is there. */
export async function tellCatalog(db: Queryable, workerId: string, catalog: WorkerCatalog): Promise<void> {
  await db.query({
    name: 'worker-tell',
    text: `with gone as (
             delete from worker where seen_at < now() - interval '1 day'
           )
           insert into worker (worker_id, catalog) values ($1, $2)
           on conflict (worker_id) do update set seen_at = now(), catalog = $2`,
    values: [workerId, JSON.stringify(catalog)],
  });
}

/** What a worker that is there has loaded: of the one that started last. Null when none is there. */
export async function newestCatalog(db: Queryable): Promise<WorkerCatalog | null> {
  const { rows } = await db.query<{ catalog: string }>({
    name: 'worker-newest',
    text: `select catalog from worker where seen_at > now() - make_interval(secs => $1)
            order by started_at desc, worker_id limit 1`,
    values: [SEEN_SECONDS],
  });
  return rows[0] === undefined ? null : WorkerCatalog.parse(JSON.parse(rows[0].catalog));
}
