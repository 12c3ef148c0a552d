import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Pool } from 'pg';
import { inject, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createDatabase, dropDatabase } from './database-admin.ts';
import { migrate } from './migrate.ts';
import { createPool } from './pool.ts';

const FIRST = 'create table thing (id integer primary key);\ninsert into thing values (1);';
const SECOND = 'alter table thing add column name text;';

let dir: string;
let name: string;
let pool: Pool;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'tidemark-migrations-'));
  name = `migrate_${process.pid}_${Date.now()}`;
  await createDatabase(inject('postgresUrl'), name);
  pool = connect();
});
afterEach(async () => {
  await pool.end();
  await dropDatabase(inject('postgresUrl'), name);
  await rm(dir, { recursive: true });
});

describe('migrate', () => {
  it('brings an empty database to the released schema', async () => {
    const applied = await migrate(pool);
    expect(applied[0]).toBe('0001-spine');
    await expect(pool.query('select * from run')).resolves.toMatchObject({ rowCount: 0 });
  });

  it('applies every file once, however many start at once', async () => {
    await write({ '0001-first.sql': FIRST, '0002-second.sql': SECOND });
    const pools = Array.from({ length: 20 }, connect);
    try {
      const applied = await Promise.all(pools.map(async (own) => migrate(own, { dir })));
      expect(applied.flat().toSorted()).toEqual(['0001-first', '0002-second']);
    } finally {
      await Promise.all(pools.map(async (own) => own.end()));
    }
    expect((await pool.query('select id from thing')).rows).toEqual([{ id: 1 }]);
  });

  it('does nothing the second time, and then only what is new', async () => {
    await write({ '0001-first.sql': FIRST });
    expect(await migrate(pool, { dir })).toEqual(['0001-first']);
    expect(await migrate(pool, { dir })).toEqual([]);
    await write({ '0002-second.sql': SECOND });
    expect(await migrate(pool, { dir })).toEqual(['0002-second']);
  });

  it('leaves nothing behind of a file that fails, and names it', async () => {
    await write({ '0001-first.sql': FIRST, '0002-broken.sql': 'create table half ();\nselect * from nowhere;' });
    await expect(migrate(pool, { dir })).rejects.toThrow(/0002-broken failed and was rolled back: .*nowhere/);
    expect((await pool.query("select to_regclass('half') as half, to_regclass('thing')::text as thing")).rows).toEqual([
      { half: null, thing: 'thing' },
    ]);
  });

  it('refuses a file that was edited after it was applied', async () => {
    await write({ '0001-first.sql': FIRST });
    await migrate(pool, { dir });
    await write({ '0001-first.sql': `${FIRST}\n-- edited` });
    await expect(migrate(pool, { dir })).rejects.toThrow(/0001-first .*edited after it was applied/);
  });

  it('lets older code run on a newer database, unless a newer file is breaking', async () => {
    await write({ '0001-first.sql': FIRST, '0002-second.sql': SECOND });
    await migrate(pool, { dir });
    await rm(join(dir, '0002-second.sql'));
    expect(await migrate(pool, { dir })).toEqual([]);
    await write({ '0002-second.sql': SECOND, '0003-third.sql': '-- breaking\nalter table thing drop column name;' });
    await migrate(pool, { dir });
    await rm(join(dir, '0003-third.sql'));
    await expect(migrate(pool, { dir })).rejects.toThrow(
      /newer than this release: it has 0003-third.*Start the release/,
    );
  });

  it('refuses files that are not numbered one after the other', async () => {
    await write({ '0001-first.sql': FIRST, '0003-third.sql': SECOND });
    await expect(migrate(pool, { dir })).rejects.toThrow('0003-third.sql must be numbered 0002');
  });
});

describe('createPool', () => {
  it('reads a bigint as a number, and refuses one that a number cannot hold', async () => {
    expect((await pool.query('select 9007199254740991::bigint as seq')).rows).toEqual([{ seq: 9_007_199_254_740_991 }]);
    await expect(pool.query('select 9007199254740993::bigint as seq')).rejects.toThrow(/does not fit/);
    expect((await pool.query('select 1 as still')).rows).toEqual([{ still: 1 }]);
  });

  it('replaces connections that the server has ended while they were idle', async () => {
    const other = connect();
    await pool.query('select 1');
    await other.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    );
    await other.end();
    await expect.poll(() => pool.totalCount).toBe(0);
    expect((await pool.query('select 1 as again')).rows).toEqual([{ again: 1 }]);
  });
});

function connect(): Pool {
  const url = new URL(inject('postgresUrl'));
  url.pathname = `/${name}`;
  return createPool(url.href, { max: 2, applicationName: 'tidemark-test' });
}

async function write(files: Record<string, string>): Promise<void> {
  await Promise.all(Object.entries(files).map(async ([file, text]) => writeFile(join(dir, file), text)));
}
