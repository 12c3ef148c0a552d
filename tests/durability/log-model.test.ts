import { fc } from '../../contract/property-testkit.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../infra/testing/database.ts';
import { createPool, type Pool } from '../../infra/postgres/pool.ts';
import { acceptedRun, committerOf } from '../fixtures/runs.ts';
import { logPlan, type LogPlan } from './log-model/commands.ts';
import { LogReader } from './log-model/log-reader.ts';
import { RunActor } from './log-model/run-actor.ts';
import { expectNothingMissed, expectRunProven, expectRunTold } from './log-model/verdict.ts';

let db: TestDatabase;
/** Of the readers alone: they never wait for a writer's connection. */
let readers: Pool;

beforeAll(async () => {
  db = await createTestDatabase();
  readers = createPool(db.url, { max: 4, applicationName: 'test-reader' });
});
afterAll(async () => {
  await readers?.end();
  await db?.drop();
});

it('whatever many writers of the same threads do at once, the log is dense, in commit order, append-only and true', async () => {
  let refusals = 0;
  const holds = fc.asyncProperty(logPlan, async (plan) => {
    refusals += await performed(plan);
  });
  await fc.assert(holds, { numRuns: 15 });
  expect(refusals).toBeGreaterThan(0);
});

/** Does a plan, every run at the same time as all others, and looks at what it left; gives how often a writer was refused. */
async function performed(plan: LogPlan): Promise<number> {
  const committers = [committerOf(db.pool), committerOf(db.pool)];
  const onSettled = async (actor: RunActor): Promise<void> => await expectRunTold(db.pool, actor);
  const actors: { actor: RunActor; commands: LogPlan[number][number] }[] = [];
  for (const thread of plan) {
    let threadId: string | null = null;
    for (const commands of thread) {
      const run = await acceptedRun(db.pool, { threadId });
      threadId = run.thread_id;
      actors.push({ actor: new RunActor({ run, pool: db.pool, committers, onSettled }), commands });
    }
  }
  const watching = [...new Set(actors.map(({ actor }) => actor.threadId))].map((id) => new LogReader(readers, id));
  const acted = await Promise.allSettled(
    actors.map(async ({ actor, commands }) => {
      for (const command of commands) await actor.act(command);
      await actor.finish();
    }),
  );
  await Promise.all(watching.map(async (reader) => await reader.stop()));
  for (const outcome of acted) if (outcome.status === 'rejected') throw outcome.reason;
  for (const reader of watching) await expectNothingMissed(db.pool, reader);
  for (const { actor } of actors) {
    await expectRunTold(db.pool, actor);
    await expectRunProven(db.pool, actor);
  }
  return actors.reduce((sum, { actor }) => sum + actor.refusals, 0);
}
