import { describe, expect, it } from 'vitest';
import type { DeliveredEvent } from './canonical.ts';
import { correlationIdOf } from './lifecycle-cut.ts';
import { begun, legsOf, shortOf } from './lifecycle-legs-testkit.ts';
import { approval, decided, parked, projectedRun, settled, type Log } from './lifecycle-log-testkit.ts';
import { createLifecycleMachine } from './lifecycle-machine.ts';
import { initialProjection, project, type ProjectionState } from './lifecycle-projection.ts';
import { validateLifecycleEvent } from './lifecycle-validate.ts';
import type { LifecycleEvent } from './lifecycle.ts';

const CANARY = 'sk-canary-9471';
const machine = createLifecycleMachine({ audience: 'public', ephemeral: false });

/** A usage that no translator says: what a row of the log holds that something else wrote. */
function spoilt(delivery: DeliveredEvent): DeliveredEvent {
  const usage = { ...delivery, kind: 'usage.updated', costUsd: -1, text: CANARY };
  return usage as unknown as DeliveredEvent;
}

function read(log: readonly DeliveredEvent[]): { events: LifecycleEvent[]; state: ProjectionState } {
  let state = initialProjection(projectedRun);
  const events: LifecycleEvent[] = [];
  for (const delivery of log) {
    const projected = project(state, delivery);
    // between two rows the state may be stored
    state = JSON.parse(JSON.stringify(projected.state)) as ProjectionState;
    events.push(...projected.events);
  }
  return { events, state };
}

function spoiltAt(log: Log, at: number): DeliveredEvent[] {
  return log.deliveries.map((delivery, i) => (i === at ? spoilt(delivery) : delivery));
}

function expectLegal(events: readonly LifecycleEvent[]): void {
  let stream = machine.initial;
  for (const event of events) {
    expect(validateLifecycleEvent(event).ok).toBe(true);
    const advanced = machine.advance(stream, event);
    if (!advanced.ok) throw new Error(advanced.reason);
    stream = advanced.state;
  }
  expect(machine.finish(stream).ok).toBe(true);
}

const working = () =>
  begun()
    .engine([
      { type: 'say', text: 'Hello' },
      { type: 'call', id: 'c' },
    ])
    .engine([{ type: 'return', id: 'c', text: 'one' }])
    .platform(settled());

describe('a log that breaks lifecycle v1', () => {
  it('ends the leg with a safe error, after closing what is open, and shows nothing of the row or behind it', () => {
    const log = working();
    const at = log.deliveries.findIndex(({ kind }) => kind === 'tool.completed');
    const { events, state } = read(spoiltAt(log, at));
    expectLegal(events);
    expect(shortOf(events).slice(-3)).toEqual([
      'text.finished m',
      'tool.error c tool_unfinished',
      'run.error harness_event_invalid',
    ]);
    expect(state.refusal).toMatchObject({ rule: null, type: 'usage.updated' });
    const { deliverySeq } = log.deliveries[at] as DeliveredEvent;
    expect(events.at(-1)?.data).toMatchObject({ retryable: false, side_effect_status: 'possible' });
    expect(JSON.stringify(events.at(-1))).toContain(correlationIdOf('run_1', deliverySeq));
    expect(JSON.stringify([events, state])).not.toContain(CANARY);
  });

  it('at any row gives one legal stream, the same however often it is read', () => {
    const log = working();
    for (const at of log.deliveries.slice(0, -1).keys()) {
      const { events } = read(spoiltAt(log, at));
      expectLegal(events);
      expect(events.at(-1)).toMatchObject({ type: 'run.error', data: { code: 'harness_event_invalid' } });
      expect(read(spoiltAt(log, at)).events).toEqual(events);
    }
  });

  it('is cut by the rule that it breaks, when its events are valid and their order is not', () => {
    const log = working().deliveries;
    const at = log.findIndex(({ kind }) => kind === 'tool.completed');
    const { state } = read(log.slice(0, at));
    const forgotten = { ...state, stream: { ...state.stream, tools: {} } };
    const { events, state: after } = project(forgotten, log[at] as DeliveredEvent);
    expect(after).toMatchObject({ phase: 'ended', refusal: { rule: 6, type: 'tool.finished' } });
    expect(events.at(-1)?.data).toMatchObject({ message: expect.stringContaining('rule 6') as string });
  });

  it('during a pause ends the leg that comes after it', () => {
    const paused = begun()
      .engine([{ type: 'call', id: 'c' }])
      .platform(approval('int_1', 'c'), parked('int_1'))
      .engine([{ type: 'say', text: 'meanwhile' }])
      .platform(decided('int_1', 'approve'), settled());
    const said = paused.deliveries.findIndex(({ kind }) => kind === 'message.delta');
    const { events } = read(spoiltAt(paused, said));
    const legs = Map.groupBy(events, ({ run_id }) => run_id);
    for (const leg of legs.values()) expectLegal(leg);
    expect([...legs.keys()]).toEqual(['run_1', 'run_1.2']);
    expect(legs.get('run_1')?.at(-1)?.type).toBe('run.interrupted');
    expect(legs.get('run_1.2')?.at(-1)?.type).toBe('run.error');
  });

  it('is not what a sound log is', () => {
    expect(legsOf(working()).state.refusal).toBeNull();
  });
});
