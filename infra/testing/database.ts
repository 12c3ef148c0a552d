import { inject } from 'vitest';
import { createDatabase, dropDatabase } from '../postgres/database-admin.ts';
import { createPool, type Pool } from '../postgres/pool.ts';
import { TEMPLATE } from './template.ts';

export interface TestDatabase {
  readonly url: string;
  readonly pool: Pool;
  drop(): Promise<void>;
}

let made = 0;

/** A migrated, empty database of the caller's own on the shared server. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const admin = inject('postgresUrl');
  const name = `t_${String(process.pid)}_${String(Date.now())}_${String(made++)}`;
  await createDatabase(admin, name, { template: TEMPLATE });
  const url = new URL(admin);
  url.pathname = `/${name}`;
  const pool = createPool(url.href, { max: 10, applicationName: 'tidemark-test' });
  return {
    url: url.href,
    pool,
    async drop() {
      await pool.end();
      await dropDatabase(admin, name);
    },
  };
}
