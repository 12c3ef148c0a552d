import { expect } from 'vitest';
import type { DeliveredEvent } from './canonical.ts';
import { input, Log, projectedRun } from './lifecycle-log-testkit.ts';
import { createLifecycleMachine } from './lifecycle-machine.ts';
import { initialProjection, project, type ProjectionState } from './lifecycle-projection.ts';
import { validateLifecycleEvent } from './lifecycle-validate.ts';
import type { LifecycleEvent } from './lifecycle.ts';

const machine = createLifecycleMachine({ audience: 'public', ephemeral: false });

export const begun = () => new Log().platform(input);

/** The streams of a log by leg. Every event must be valid, every stream legal, and nothing refused inside. */
export function legsOf(log: Log | readonly DeliveredEvent[]): { legs: LifecycleEvent[][]; state: ProjectionState } {
  let state = initialProjection(projectedRun);
  const legs = new Map<string, LifecycleEvent[]>();
  for (const delivery of log instanceof Log ? log.deliveries : log) {
    const projected = project(state, delivery);
    ({ state } = projected);
    for (const event of projected.events) {
      const leg = legs.get(event.run_id) ?? [];
      leg.push(event);
      legs.set(event.run_id, leg);
    }
  }
  expect(state.refusal).toBeNull();
  for (const events of legs.values()) expectLegal(events);
  return { legs: [...legs.values()], state };
}

function expectLegal(events: readonly LifecycleEvent[]): void {
  let stream = machine.initial;
  for (const event of events) {
    expect(validateLifecycleEvent(event)).toMatchObject({ ok: true });
    const advanced = machine.advance(stream, event);
    if (!advanced.ok) throw new Error(`rule ${String(advanced.rule)}: ${advanced.reason}`);
    stream = advanced.state;
  }
}

const FACTS = [
  'message_id',
  'tool_call_id',
  'agent_id',
  'delta',
  'result',
  'code',
  'interrupt_id',
  'outcome',
  'stop_reason',
  'reason',
];

/** A stream in short, one line an event: namespace, type, the id it is about, and what tells it apart. */
export function shortOf(events: readonly LifecycleEvent[] | undefined): string[] {
  return (events ?? []).map(({ type, namespace, data }) => {
    const fields = data as Readonly<Record<string, string | undefined>>;
    const path = namespace.length > 0 ? `[${namespace.join('/')}]` : '';
    return [path, type, ...FACTS.map((fact) => fields[fact])]
      .filter((word) => word !== undefined && word !== '')
      .join(' ');
  });
}

export function streams(log: Log): string[][] {
  return legsOf(log).legs.map(shortOf);
}

/** The lines of a template, for comparison with `shortOf`. */
export function lines(text: string): string[] {
  return text
    .split('\n')
    .map((each) => each.trim())
    .filter((each) => each !== '');
}

export function lastOf(log: Log): LifecycleEvent['data'] | undefined {
  return legsOf(log).legs.at(-1)?.at(-1)?.data;
}
