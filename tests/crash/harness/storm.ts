import { setTimeout as sleep } from 'node:timers/promises';
import type { OwnServers } from '../../../infra/testing/own-servers.ts';
import type { Stack } from '../../../infra/testing/stack.ts';
import { Rest } from '../../fixtures/rest.ts';
import type { Effects } from './effects.ts';
import { Fleet } from './fleet.ts';
import { Follower } from './follower.ts';
import { Ledger } from './ledger.ts';
import { Load, type StartedRun } from './load.ts';
import { PatientClient } from './patient-client.ts';
import type { Plan, PlannedFault } from './plan.ts';
import { Random } from './random.ts';
import { checkEffects, checkFollowers, checkNothingOpen, checkProcesses, inspectAll } from './verdict.ts';

const FOLLOWERS = 20;

export interface StormOptions {
  readonly plan: Plan;
  readonly stack: Stack;
  readonly servers: OwnServers;
  readonly effects: Effects;
  readonly settleWithinMs: number;
}

/** Runs a storm and looks at what it left. */
export async function rage(options: StormOptions): Promise<Ledger> {
  const { plan, stack, servers, effects, settleWithinMs } = options;
  const ledger = new Ledger();
  const random = new Random(plan.seed + 1);
  const fleet = new Fleet(stack, servers, ledger);
  const followers: Follower[] = [];
  try {
    await fleet.start();
    const client = new PatientClient(fleet, ledger, random);
    const onThread = (threadId: string): void => {
      const wanted = Math.ceil(FOLLOWERS / plan.threads.length);
      for (let i = 0; i < wanted && followers.length < FOLLOWERS; i++)
        followers.push(new Follower(`client ${String(followers.length + 1)}`, threadId, { fleet, ledger, random }));
    };
    const load = new Load({ plan, client, effects, ledger, home: stack.home, onThread });
    const robot = load.robot();
    ledger.note('the storm begins');
    await Promise.all([load.start(), strikeAll(plan.faults, fleet), sleep(plan.stormMs)]);
    ledger.note('the storm is over');
    await calm(stack, ledger, load.runs, settleWithinMs);
    load.stopRobot();
    await robot;
    await checkNothingOpen(stack, ledger);
    const rest = new Rest(fleet.gatewayUrl(random) ?? '');
    const found = await inspectAll(rest, load.runs, ledger);
    checkEffects(load.runs, found, effects, ledger);
    await checkFollowers(followers, found, rest.url, ledger);
    await checkProcesses(stack, fleet, ledger);
  } finally {
    await Promise.all(followers.map(async (follower) => await follower.stop()));
    await fleet.stop();
  }
  return ledger;
}

/** Each at its time; what hits the same server waits for the one before. */
async function strikeAll(faults: readonly PlannedFault[], fleet: Fleet): Promise<void> {
  const busy = new Map<string, Promise<void>>();
  const beganAt = performance.now();
  for (const fault of faults) {
    await sleep(Math.max(0, fault.atMs - (performance.now() - beganAt)));
    const before = busy.get(fault.target) ?? Promise.resolve();
    const own = fault.target === 'postgres' || fault.target === 'temporal' ? before : Promise.resolve();
    const struck = own.then(async () => await fleet.strike(fault));
    busy.set(
      fault.target,
      Promise.all([before, struck]).then(() => undefined),
    );
  }
  await Promise.all(busy.values());
}

/** Waits until every run has its end and its proof. */
async function calm(stack: Stack, ledger: Ledger, runs: readonly StartedRun[], withinMs: number): Promise<void> {
  const beganAt = performance.now();
  for (;;) {
    const { rows } = await stack.pool.query<{ run_id: string; status: string; canonical_state: string }>(
      `select run_id, status, canonical_state from run where canonical_state is distinct from 'complete'`,
    );
    const ms = performance.now() - beganAt;
    if (rows.length === 0) return ledger.note(`all is complete ${(ms / 1_000).toFixed(1)} s after the storm`);
    if (ms < withinMs) {
      await sleep(500);
      continue;
    }
    for (const { run_id: id, status, canonical_state: state } of rows) {
      const kind = runs.find(({ runId }) => runId === id)?.planned.kind ?? 'unknown to its client';
      ledger.fault(`${id} (${kind}) is ${status}, ${state}, ${String(Math.round(ms / 1_000))} s after the storm`);
    }
    return;
  }
}
