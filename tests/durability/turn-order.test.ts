import { expect, it } from 'vitest';
import type { SaidEvent } from '../fixtures/rest.ts';
import { useWorld } from '../fixtures/world.ts';

const world = useWorld({ gateways: 2 });

/** Between the begin of a turn's session and its end no other turn of the thread says anything. */
function expectTurnsInOrder(events: readonly SaidEvent[]): void {
  let active: string | null = null;
  for (const { kind, runId } of events) {
    if (kind === 'turn.started') continue; // said when the run is accepted
    if (kind === 'session.started') {
      expect(active, `${runId} begins`).toBeNull();
      active = runId;
    }
    expect(runId, kind).toBe(active);
    if (kind === 'turn.completed') active = null;
  }
  expect(active).toBeNull();
}

it('two messages posted to one thread at once, through two gateways, are two turns one after the other; 12 times', async () => {
  await Promise.all(
    Array.from({ length: 12 }, async (_, i) => {
      const first = await world.rest.startRun(`ANSWER pair ${String(i)} begins`);
      const post = [world.rest, world.other].map(
        async (gateway) => await gateway.startRun(`ANSWER pair ${String(i)}`, {}, first.thread_id),
      );
      for (const { run_id: runId } of await Promise.all(post)) {
        expect((await world.rest.settled(runId)).status).toBe('completed');
      }
      const events = (await world.rest.deliveries(first.thread_id)).flatMap(({ event }) => event ?? []);
      expect(events.filter(({ kind }) => kind === 'session.started')).toHaveLength(3);
      expectTurnsInOrder(events);
    }),
  );
});

it('a commit that takes half a second hides no run from its workflow', async () => {
  // deferred: it sleeps when all is written, right before the commit
  await world.stack.pool.query(
    `create function slow_commit() returns trigger language plpgsql as
       $$ begin perform pg_sleep(0.5); return null; end $$;
     create constraint trigger slow_commit after insert on command deferrable initially deferred
       for each row execute function slow_commit()`,
  );
  const runs = await Promise.all(
    Array.from({ length: 4 }, (_, i) => world.rest.startRun(`ANSWER slowly ${String(i)}`)),
  );
  for (const { run_id: runId } of runs) expect((await world.rest.settled(runId)).status).toBe('completed');
  for (const [i] of runs.entries()) expect(world.model.calls(`ANSWER slowly ${String(i)}`)).toBe(1);
  expect(world.stack.logs()).not.toContain('run_not_found');
});
