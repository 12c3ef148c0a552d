import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createCanonicalize } from '../../activities/canonicalize.ts';
import { inheritedEnv } from '../../infra/config.ts';
import { writeUrls } from '../../infra/dev/urls-file.ts';
import { intentState } from '../../infra/postgres/outbox.ts';
import { settleRun } from '../../infra/postgres/turn.ts';
import { createTestDatabase, type TestDatabase } from '../../infra/testing/database.ts';
import { acceptedRun, silent } from '../fixtures/runs.ts';

const LAUNCHER = join(import.meta.dirname, '../../infra/dev/launch.mjs');

let db: TestDatabase;
let home: string;
let canonicalize: (runId: string) => Promise<boolean>;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'tidemark-outbox-'));
});
afterAll(async () => {
  await rm(home, { recursive: true, force: true });
});
beforeEach(async () => {
  db = await createTestDatabase();
  canonicalize = createCanonicalize({ pool: db.pool, log: silent } as Parameters<typeof createCanonicalize>[0]);
});
afterEach(async () => {
  await db?.drop();
});

/** A settled run whose proof was given up: a frame was altered, and put back when it was too late. */
async function deadRun(): Promise<string> {
  const { run_id: runId } = await acceptedRun(db.pool);
  await settleRun(db.pool, runId, { status: 'completed', stopReason: 'stop' });
  const alter = async (from: string, to: string) =>
    await db.pool.query('update frame set payload = replace(payload, $2, $3) where run_id = $1', [runId, from, to]);
  await alter('hello', 'hallo');
  while ((await intentState(db.pool, runId)) !== 'dead') await expect(canonicalize(runId)).rejects.toThrow('digest');
  await alter('hallo', 'hello');
  return runId;
}

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function outbox(args: readonly string[], env: Record<string, string | undefined> = {}): Promise<Ended> {
  return await new Promise((resolve) => {
    const options = { env: inheritedEnv({ DATABASE_URL: db.url, TIDEMARK_HOME: home, ...env }) };
    execFile('node', [LAUNCHER, 'outbox', ...args], options, (error, out, err) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : error === null ? 0 : -1, out, err });
    });
  });
}

describe('npm run outbox', () => {
  it('lists what was given up, with its reason, and gives one of it another try', async () => {
    const [first, second] = [await deadRun(), await deadRun()];
    const listed = await outbox(['list']);
    expect(listed).toMatchObject({ code: 0, err: '' });
    expect(listed.out.trim().split('\n')).toEqual([
      expect.stringMatching(new RegExp(`^${first}\\tthr_.*\\t8 attempts\\t.*digest`)),
      expect.stringContaining(second),
    ]);
    expect(await outbox(['retry', first])).toMatchObject({ code: 0, out: expect.stringContaining(first) });
    expect(await canonicalize(first)).toBe(true);
    expect(await intentState(db.pool, first)).toBe('complete');
    expect(await intentState(db.pool, second)).toBe('dead');
    const again = await outbox(['retry', first]);
    expect(again).toMatchObject({ code: 1, out: '', err: expect.stringContaining('outbox -- list') });
  });

  it('gives all of it another try, of whatever tenant, by the database that npm start has noted', async () => {
    const runs = [await deadRun(), await deadRun(), await deadRun()];
    await db.pool.query(`update run set tenant_id = 'another' where run_id = $1`, [runs[1]]);
    writeUrls(home, { gateway: '', temporal_ui: null, temporal_address: '', database_url: db.url, pids: {} });
    const retried = await outbox(['retry', '--all'], { DATABASE_URL: undefined });
    expect(retried).toMatchObject({ code: 0, out: expect.stringMatching(/^3 runs/) });
    for (const runId of runs) expect(await intentState(db.pool, runId)).toBe('pending');
    expect(await outbox(['list'])).toMatchObject({ code: 0, out: expect.stringContaining('No run') });
  });

  it('says what to do when it is asked wrongly, or there is no database', async () => {
    for (const args of [[], ['retry'], ['list', 'more'], ['revive', 'run_x']])
      expect(await outbox(args)).toMatchObject({ code: 2, err: expect.stringContaining('Usage') });
    const elsewhere = { TIDEMARK_HOME: join(home, 'empty'), DATABASE_URL: undefined };
    expect(await outbox(['list'], elsewhere)).toMatchObject({ code: 1, err: expect.stringContaining('DATABASE_URL') });
    const away = { DATABASE_URL: 'postgres://u:secret-word@127.0.0.1:1/none' };
    const refused = await outbox(['list'], away);
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('does not answer') });
    expect(refused.err).not.toContain('secret-word');
  });
});
