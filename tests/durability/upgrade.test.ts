import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApplyRetention } from '../../activities/apply-retention.ts';
import { createCanonicalize } from '../../activities/canonicalize.ts';
import { createEraseDue } from '../../activities/erase-due.ts';
import { translateBuiltinFrame } from '../../activities/engines/builtin/translate.ts';
import { loadConfig } from '../../infra/config.ts';
import { openInterrupts } from '../../infra/postgres/interrupt.ts';
import { migrate } from '../../infra/postgres/migrate.ts';
import { dueIntents } from '../../infra/postgres/outbox.ts';
import { endStep, listSteps, openStep } from '../../infra/postgres/step.ts';
import { takeUnswept } from '../../infra/postgres/sweep.ts';
import { settleRun } from '../../infra/postgres/turn.ts';
import { createTestDatabase, type TestDatabase } from '../../infra/testing/database.ts';
import { startAppGateway, type AppGateway } from '../fixtures/app-gateway.ts';
import { createReleasedDatabase, releasedSchemas } from '../fixtures/released-database.ts';
import { Rest, textOf, type Run } from '../fixtures/rest.ts';
import { rowsOfThread } from '../fixtures/rows-of-thread.ts';
import { committerOf, silent, writerOf } from '../fixtures/runs.ts';
import { schemaOf } from '../fixtures/schema-of.ts';
import { sequence } from '../fixtures/sse-client.ts';

type Role = 'complete' | 'pending' | 'parked' | 'queued' | 'live';

describe.each(await releasedSchemas())(
  'a database of schema %i with the rows of its release, brought to this one',
  (schema) => {
    let db: TestDatabase;
    let gateway: AppGateway;
    let rest: Rest;
    let canonicalize: (runId: string) => Promise<boolean>;

    beforeAll(async () => {
      db = await createReleasedDatabase(schema);
      await migrate(db.pool);
      gateway = await startAppGateway(db.url);
      rest = new Rest(gateway.url);
      canonicalize = createCanonicalize({ pool: db.pool, log: silent } as Parameters<typeof createCanonicalize>[0]);
    });
    afterAll(async () => {
      await gateway?.stop();
      await db?.drop();
    });

    async function runsOf(...roles: Role[]): Promise<{ run_id: string; thread_id: string }[]> {
      const { rows } = await db.pool.query<{ run_id: string; thread_id: string }>(
        `select run_id, thread_id from run where metadata ->> 'role' = any($1) order by run_id`,
        [roles],
      );
      expect(rows.length).toBeGreaterThan(0);
      return rows;
    }

    /** What holds of every thread and of the proof of each run; gives how many runs were looked at. */
    async function expectLogsHold(...roles: Role[]): Promise<number> {
      const runs = await runsOf(...roles);
      for (const { run_id: runId, thread_id: threadId } of runs) {
        const deliveries = await rest.deliveries(threadId);
        expect(deliveries.map(({ delivery_seq: seq }) => seq)).toEqual(sequence(deliveries.length));
        const { body: run } = await rest.send<Run>('GET', `/v1/runs/${runId}`);
        expect(run.canonical_state).toBe('complete');
        const { body } = await rest.send<{ holds: boolean }>('GET', `/v1/runs/${runId}/verify`);
        expect(body.holds).toBe(true);
      }
      return runs.length;
    }

    it('has the schema of a fresh installation', async () => {
      const fresh = await createTestDatabase();
      try {
        expect(await schemaOf(db.pool)).toEqual(await schemaOf(fresh.pool));
      } finally {
        await fresh.drop();
      }
    });

    it('replays what was complete, and its proofs hold', async () => {
      expect(await expectLogsHold('complete')).toBeGreaterThan(2);
    });

    it('shows the sweep what its release left', async () => {
      await db.pool.query(`update run set swept_at = now() - interval '1 hour'`);
      const unswept = await takeUnswept(db.pool, { limit: 50, olderThanMs: 60_000 });
      const open = (await runsOf('parked', 'queued', 'live')).map(({ run_id: id }) => id);
      expect(unswept.toSorted()).toEqual(open);
      expect(await dueIntents(db.pool, 10)).toEqual((await runsOf('pending')).map(({ run_id: id }) => id));
    });

    it('proves the run whose proof was owed', async () => {
      for (const { run_id: runId } of await runsOf('pending')) expect(await canonicalize(runId)).toBe(true);
      await expectLogsHold('pending');
    });

    it('repeats the step that died in mid-stream, ends its run and proves it', async () => {
      const [live] = await runsOf('live');
      if (live === undefined) throw new Error('a run is live');
      const runId = live.run_id;
      const died = (await listSteps(db.pool, runId)).find(({ status }) => status === 'running');
      const stepIndex = died?.step_index ?? 0;
      const opened = await openStep(db.pool, { runId, stepIndex, kind: 'model', label: 'm' });
      if (opened.state !== 'opened') throw new Error(`the step is ${opened.state}`);
      expect(opened).toMatchObject({ repeated: true, writer: { attempt: (died?.attempt ?? 0) + 1 } });
      const lane = writerOf(committerOf(db.pool), runId, opened.writer);
      lane.emit({ type: 'text-delta', contentIndex: 0, delta: 'said after the upgrade' });
      await lane.drain();
      const end = { provider: 'builtin', translate: translateBuiltinFrame, frames: [], messages: [], result: '{}' };
      await endStep(db.pool, { runId, writer: opened.writer, status: 'completed', contentHash: 'h', ...end });
      await settleRun(db.pool, runId, { status: 'completed', stopReason: 'stop' });
      expect(await canonicalize(runId)).toBe(true);
      expect(textOf(await rest.events(live))).toBe('said after the upgrade');
      await expectLogsHold('live');
    });

    it('still asks what it asked; the runs that wait end, hand their turn on and are proven', async () => {
      const asked = await openInterrupts(db.pool, { tenantId: 'default', threadId: null, after: null, limit: 10 });
      const parked = await runsOf('parked');
      expect(asked.map(({ run_id: id }) => id).toSorted()).toEqual(parked.map(({ run_id: id }) => id));
      for (const { run_id: runId } of [...parked, ...(await runsOf('queued'))]) {
        await settleRun(db.pool, runId, { status: 'failed', stopReason: 'cancelled' });
        expect(await canonicalize(runId)).toBe(true);
      }
      await expectLogsHold('parked', 'queued');
    });

    it('lets old frames go and erases every thread whole', async () => {
      await db.pool.query(
        `with old as (update run set settled_at = now() - interval '9 days')
       update outbox set completed_at = now() - interval '9 days'`,
      );
      const config = loadConfig({
        TIDEMARK_RETAIN_FRAMES_DAYS: '1',
        TIDEMARK_WORKSPACES: join(tmpdir(), 'tidemark-no-workspaces'),
      });
      await createApplyRetention({ config, pool: db.pool, log: silent })(new AbortController().signal);
      expect((await db.pool.query('select 1 from frame')).rowCount).toBe(0);
      const all = await runsOf('complete', 'pending', 'parked', 'queued', 'live');
      for (const threadId of new Set(all.map(({ thread_id: id }) => id))) {
        expect((await rest.send('DELETE', `/v1/threads/${threadId}`)).status).toBe(204);
      }
      await createEraseDue({ config, pool: db.pool, log: silent, sessionMirror: null })(new AbortController().signal);
      for (const { thread_id: threadId, run_id: runId } of all) {
        expect(await rowsOfThread(db.pool, threadId, [runId])).toEqual({});
      }
      expect((await db.pool.query('select 1 from artifact')).rowCount).toBe(0);
    });
  },
);
