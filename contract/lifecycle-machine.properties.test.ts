import { fc } from './property-testkit.ts';
import { describe, expect, it } from 'vitest';
import { isTerminal, LIFECYCLE_TYPES, type LifecycleEvent, type LifecycleType } from './lifecycle.ts';
import { failedEnding } from './lifecycle-closing.ts';
import { createLifecycleMachine, type LifecycleMachine } from './lifecycle-machine.ts';
import type { LifecycleState, Refusal, RuleNumber } from './lifecycle-state.ts';
import { COMMITTED, legalStream, line, SAMPLE_DATA, streamOf } from './lifecycle-testkit.ts';
import { brokenRules } from './lifecycle-oracle-testkit.ts';
import { validateLifecycleEvent } from './lifecycle-validate.ts';

const machine = createLifecycleMachine({ audience: 'public', ephemeral: false });
const RUNS = { numRuns: 300 };

function judge(
  events: readonly LifecycleEvent[],
  by: LifecycleMachine = machine,
): { at: number; rule: number } | LifecycleState {
  let state = by.initial;
  for (const [at, event] of events.entries()) {
    const advanced = by.advance(state, event);
    if (!advanced.ok) return { at, rule: advanced.rule };
    state = advanced.state;
  }
  return state;
}

/** The first place where the oracle finds a rule broken, with all rules that are broken there. */
function foundAt(events: readonly LifecycleEvent[]): { at: number; rules: Set<RuleNumber> } | null {
  for (const [at, event] of events.entries()) {
    const rules = brokenRules(events.slice(0, at), event);
    if (rules.size > 0) return { at, rules };
  }
  return null;
}

function renumber(events: readonly LifecycleEvent[]): LifecycleEvent[] {
  return events.map((event, sequence) => ({ ...event, sequence }));
}

interface Mutation {
  readonly name: string;
  readonly of: (events: readonly LifecycleEvent[], at: number, other: number) => LifecycleEvent[];
}

const data = (event: LifecycleEvent, fields: object): LifecycleEvent =>
  ({ ...event, data: { ...event.data, ...fields } }) as LifecycleEvent;
const at = (events: readonly LifecycleEvent[], index: number, change: (event: LifecycleEvent) => LifecycleEvent) =>
  events.map((event, i) => (i === index ? change(event) : event));
const sample = (pick: number): LifecycleEvent => {
  const type = LIFECYCLE_TYPES[pick % LIFECYCLE_TYPES.length] as LifecycleType;
  return streamOf([line(type, SAMPLE_DATA[type])])[0] as LifecycleEvent;
};
const idOf = (event: LifecycleEvent | undefined): string => {
  const { tool_call_id, message_id } = (event?.data ?? {}) as { tool_call_id?: string; message_id?: string };
  return tool_call_id ?? message_id ?? 'id-0';
};

const MUTATIONS: readonly Mutation[] = [
  { name: 'drop', of: (events, i) => renumber(events.toSpliced(i, 1)) },
  { name: 'duplicate', of: (events, i) => events.toSpliced(i, 0, events[i] as LifecycleEvent) },
  { name: 'say again', of: (events, i, j) => renumber(events.toSpliced(j, 0, events[i] as LifecycleEvent)) },
  {
    name: 'swap',
    of: (events, i, j) => renumber(events.with(i, events[j] as LifecycleEvent).with(j, events[i] as LifecycleEvent)),
  },
  {
    name: 'swap with sequences',
    of: (events, i, j) => events.with(i, events[j] as LifecycleEvent).with(j, events[i] as LifecycleEvent),
  },
  { name: 'insert', of: (events, i, j) => renumber(events.toSpliced(i, 0, sample(j))) },
  { name: 'add after the end', of: (events, i) => renumber([...events, events[i] as LifecycleEvent]) },
  { name: 'add another end', of: (events, i) => renumber([...events, sample(1 + (i % 4))]) },
  { name: 'other run', of: (events, i) => at(events, i, (event) => ({ ...event, run_id: 'run-2' })) },
  { name: 'other conversation', of: (events, i) => at(events, i, (event) => ({ ...event, conversation_id: 'x' })) },
  { name: 'other sequence', of: (events, i, j) => at(events, i, (event) => ({ ...event, sequence: j })) },
  {
    name: 'other namespace',
    of: (events, i, j) => at(events, i, (event) => ({ ...event, namespace: events[j]?.namespace ?? [] })),
  },
  { name: 'unknown namespace', of: (events, i) => at(events, i, (event) => ({ ...event, namespace: ['nowhere'] })) },
  {
    name: 'other id',
    of: (events, i, j) =>
      at(events, i, (event) => {
        const id = idOf(events[j]);
        if ('message_id' in event.data) return data(event, { message_id: id });
        if ('tool_call_id' in event.data) return data(event, { tool_call_id: id });
        if ('parent_tool_call_id' in event.data) return data(event, { parent_tool_call_id: id });
        return event.type === 'run.interrupted' ? data(event, { interrupt_id: id }) : event;
      }),
  },
  {
    name: 'end a tool the other way too',
    of: (events, i, j) => {
      const ended = events[i];
      if (ended?.type !== 'tool.finished' && ended?.type !== 'tool.error') return [...events];
      const type = ended.type === 'tool.finished' ? 'tool.error' : 'tool.finished';
      const again = {
        ...ended,
        type,
        data: { ...SAMPLE_DATA[type], tool_call_id: ended.data.tool_call_id },
      } as LifecycleEvent;
      return renumber(events.toSpliced(Math.max(i + 1, j), 0, again));
    },
  },
  {
    name: 'other durability',
    of: (events, i, j) =>
      at(events, events.length - 1, (event) => {
        if (event.type === 'run.error')
          return data(event, { code: 'thread_durability_uncertain', retryable: i % 2 === 0 });
        if (event.type !== 'run.finished') return event;
        if (j % 4 === 0) return { ...event, data: { outcome: 'success', stop_reason: 'stop' } };
        const durability = (['pending', 'uncertain', 'failed'] as const)[j % 3];
        return data(event, { thread_state: { ...COMMITTED, durability } });
      }),
  },
  {
    name: 'other reason',
    of: (events) =>
      at(events, events.length - 1, (event) =>
        event.type === 'run.interrupted' ? data(event, { reason: 'human_input' }) : event,
      ),
  },
];

describe('the lifecycle machine, on random streams', () => {
  it('accepts every legal stream, for every audience, and each of its events is valid', () => {
    fc.assert(
      fc.property(legalStream, (events) => {
        for (const audience of ['adapter', 'public'] as const) {
          for (const ephemeral of [true, false]) {
            expect(judge(events, createLifecycleMachine({ audience, ephemeral }))).toMatchObject({ phase: 'ended' });
          }
        }
        const pause = { interrupt_id: 'i', durable_revision: 0, head_ref: 'h' };
        const strict = createLifecycleMachine({ audience: 'coordinator', ephemeral: false });
        const knowing: LifecycleMachine = { ...strict, advance: (state, event) => strict.advance(state, event, pause) };
        expect(judge(events, knowing)).toMatchObject({ phase: 'ended' });
        for (const event of events) expect(validateLifecycleEvent(event)).toEqual({ ok: true, event });
      }),
      RUNS,
    );
  });

  it('refuses every mutation of a legal stream that breaks a rule, where it breaks and with its number, and no other', () => {
    const hit = new Map<number, number>();
    fc.assert(
      fc.property(legalStream, fc.constantFrom(...MUTATIONS), fc.nat(), fc.nat(), (events, mutation, i, j) => {
        const mutated = mutation.of(events, i % events.length, j % events.length);
        const found = foundAt(mutated);
        const judged = judge(mutated);
        if (found === null) {
          expect(judged).toHaveProperty('phase');
          const hasEnded = mutated.some(isTerminal);
          expect(machine.finish(judged as LifecycleState).ok).toBe(hasEnded);
          if (!hasEnded) hit.set(12, (hit.get(12) ?? 0) + 1);
          return;
        }
        expect(judged).toMatchObject({ at: found.at });
        const { rule } = judged as { rule: RuleNumber };
        expect(found.rules).toContain(rule);
        hit.set(rule, (hit.get(rule) ?? 0) + 1);
      }),
      { numRuns: 6_000 },
    );
    const rules = [...hit.keys()].toSorted((a, b) => a - b);
    expect(rules).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13, 14, 15]);
  });

  it('can end every beginning of a legal stream by closing what is open and saying what was wrong', () => {
    fc.assert(
      fc.property(legalStream, fc.nat(), (events, pick) => {
        const beginning = events.slice(0, 1 + (pick % events.length));
        const state = judge(beginning) as LifecycleState;
        if (state.phase !== 'running') return;
        const wrong = machine.finish(state) as Refusal;
        const ending = failedEnding(state, { ...wrong, correlationId: 'ref_1' }, 'possible');
        const whole = renumber([...beginning, ...streamOf(ending)]);
        expect(judge(whole)).toMatchObject({ terminal: 'run.error', namespaces: {} });
        expect(whole.at(-1)?.data).toMatchObject({ code: 'harness_stream_closed' });
        for (const event of whole) expect(validateLifecycleEvent(event).ok).toBe(true);
      }),
      RUNS,
    );
  });

  it('is pure: no state is changed, states are plain JSON, and a refused event leaves the stream as it was', () => {
    fc.assert(
      fc.property(legalStream, fc.nat(), (events, pick) => {
        const cut = pick % events.length;
        const before = judge(events.slice(0, cut)) as LifecycleState;
        const frozen = JSON.stringify(before);
        machine.advance(before, sample(pick));
        expect(JSON.stringify(before)).toBe(frozen);
        let state = JSON.parse(frozen) as LifecycleState;
        for (const event of events.slice(cut)) {
          const advanced = machine.advance(state, event);
          if (!advanced.ok) throw new Error(advanced.reason);
          state = advanced.state;
        }
        expect(state).toEqual(judge(events));
      }),
      RUNS,
    );
  });
});
