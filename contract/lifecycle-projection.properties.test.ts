import { fc } from './property-testkit.ts';
import { describe, expect, it } from 'vitest';
import type { DeliveredEvent } from './canonical.ts';
import type { NativeFrame } from './frames.ts';
import { createLifecycleMachine } from './lifecycle-machine.ts';
import { initialProjection, legRunId, project, type ProjectionState } from './lifecycle-projection.ts';
import type { LifecycleState } from './lifecycle-state.ts';
import {
  answered,
  approval,
  decided,
  input,
  Log,
  parked,
  projectedRun,
  question,
  repeatOf,
  settled,
} from './lifecycle-log-testkit.ts';
import { validateLifecycleEvent } from './lifecycle-validate.ts';
import { isTerminal, type LifecycleEvent } from './lifecycle.ts';
import type { PlatformFrame } from './platform-frames.ts';
import { cleanText } from './sanitize.ts';

const RUNS = { numRuns: 400 };
const machine = createLifecycleMachine({ audience: 'public', ephemeral: false });

type Act =
  | { readonly by: 'engine'; readonly step: number; readonly frames: readonly NativeFrame[] }
  | { readonly by: 'platform'; readonly frames: readonly PlatformFrame[] }
  | { readonly by: 'retry'; readonly step: number };

const id = fc.constantFrom('a', 'b', 'c', 'a\nb', 'x~2', 'y'.repeat(260));
const child = fc.constantFrom('s1', 's2', 's3', undefined);
const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 8 }), fc.constantFrom('\ud83c', '\udf0d', 'é', ''));
const native = fc.record({ session: child, parent: child }).map(({ session, parent }) => ({
  ...(session === undefined ? {} : { session }),
  ...(parent === undefined ? {} : { parent }),
}));
const frame: fc.Arbitrary<NativeFrame> = fc
  .tuple(
    fc.oneof(
      fc.record({ type: fc.constantFrom('say', 'think'), id, text }),
      fc.record({ type: fc.constantFrom('end', 'think-end', 'mystery', 'call', 'call'), id }),
      fc.record({ type: fc.constant('end'), id, text }),
      fc.record({ type: fc.constant('call'), id, input: fc.jsonValue() }),
      fc.record({ type: fc.constantFrom('return', 'fail'), id, text }),
      fc.record({ type: fc.constant('spawn'), id: fc.constantFrom('s1', 's2', 's3'), launch: id }),
      fc.record({ type: fc.constantFrom('spawn', 'join'), id: fc.constantFrom('s1', 's2', 's3'), ok: fc.boolean() }),
      fc.constantFrom(
        { type: 'body', body: { kind: 'usage.updated', inputTokens: 3.5, costUsd: 0.1 } },
        { type: 'body', body: { kind: 'harness.error', message: 'x\ny', fatal: false } },
        { type: 'body', body: { kind: 'harness.error', message: 'over quota', fatal: true } },
        { type: 'body', body: { kind: 'plan.updated', entries: [{ id: '1', text: 'x', status: 'pending' }] } },
        { type: 'body', body: { kind: 'approval.requested', approvalId: 'i4', operation: 'op', options: ['once'] } },
      ),
    ),
    native,
  )
  .map(([each, ids]) => ({ ...each, ...ids }));

const interruptId = fc.constantFrom('i1', 'i2', 'i3', 'i4');
const platform: fc.Arbitrary<PlatformFrame> = fc.oneof(
  fc.tuple(interruptId, id, fc.jsonValue()).map(([interrupt, call, value]) => approval(interrupt, call, value)),
  fc.tuple(interruptId, id).map(([interrupt, call]) => question(interrupt, call, ['x'])),
  fc.uniqueArray(interruptId).map((ids) => parked(...ids)),
  fc
    .tuple(interruptId, fc.constantFrom('approve', 'edit', 'reject', 'expired'))
    .map(([interrupt, decision]) => decided(interrupt, decision, { a: 1 })),
  interruptId.map((interrupt) => answered(interrupt)),
  fc.constant<PlatformFrame>({ type: 'run.warning', code: 'w', message: 'careful' }),
);
const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      by: fc.constant('engine' as const),
      step: fc.nat(2),
      frames: fc.array(frame, { minLength: 1, maxLength: 6 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      by: fc.constant('platform' as const),
      frames: fc.array(platform, { minLength: 1, maxLength: 3 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ by: fc.constant('retry' as const), step: fc.nat(2) }) },
);
const ending = fc.constantFrom(
  settled(),
  settled('cancelled'),
  settled('stop', { uncommitted: true }),
  settled('error', { error: { code: 'provider_stalled', message: 'slow' } }),
);

function logOf(acts: readonly Act[], end: PlatformFrame | null): Log {
  const log = new Log().platform(input);
  const attempts = [1, 1, 1];
  for (const each of acts) {
    if (each.by === 'platform') log.platform(...each.frames);
    else if (each.by === 'engine') log.engine(each.frames, each.step, attempts[each.step]);
    else log.platform(repeatOf(each.step, (attempts[each.step] = (attempts[each.step] ?? 1) + 1)));
  }
  return end === null ? log : log.platform(end);
}

const anyLog = fc.tuple(fc.array(act, { maxLength: 14 }), ending).map(([acts, end]) => logOf(acts, end));

function projectAll(deliveries: readonly DeliveredEvent[], from = initialProjection(projectedRun)) {
  let state: ProjectionState = from;
  const events: LifecycleEvent[] = [];
  for (const delivery of deliveries) {
    const projected = project(state, delivery);
    ({ state } = projected);
    events.push(...projected.events);
  }
  return { state, events };
}

describe('the projection of random runs', () => {
  it('gives legs that the machine accepts at every cut, each closed by one terminal before the next begins', () => {
    fc.assert(
      fc.property(anyLog, ({ deliveries }) => {
        const { events, state } = projectAll(deliveries);
        expect(state.refusal).toBeNull();
        let stream: LifecycleState = machine.initial;
        let leg = 0;
        for (const event of events) {
          if (stream.phase === 'ended' || leg === 0) {
            leg += 1;
            stream = machine.initial;
          }
          expect(event.run_id).toBe(legRunId('run_1', leg));
          expect(event.sequence).toBe(stream.sequence + 1);
          expect(validateLifecycleEvent(event)).toMatchObject({ ok: true });
          const advanced = machine.advance(stream, event);
          if (!advanced.ok) throw new Error(`rule ${String(advanced.rule)}: ${advanced.reason}`);
          if (isTerminal(event)) expect(advanced.state.blocks).toEqual({});
          stream = advanced.state;
        }
        expect(machine.finish(stream)).toEqual({ ok: true });
        expect(events.at(-1)?.type).not.toBe('run.interrupted');
      }),
      RUNS,
    );
  });

  it('gives the same stream live, on replay and after a restart at every cut', () => {
    fc.assert(
      fc.property(anyLog, ({ deliveries }) => {
        const { events } = projectAll(deliveries);
        for (let cut = 0; cut <= deliveries.length; cut++) {
          const before = projectAll(deliveries.slice(0, cut));
          const kept = JSON.parse(JSON.stringify(before.state)) as ProjectionState;
          const after = projectAll(JSON.parse(JSON.stringify(deliveries.slice(cut))) as DeliveredEvent[], kept);
          expect([...before.events, ...after.events]).toEqual(events);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('shows all text of a run that repeats nothing, in order and once, over every pause, and ends every call', () => {
    const whole = fc.string({ unit: 'binary', maxLength: 8 });
    const rootFrame = fc.oneof(
      fc.record({ type: fc.constant('say'), id: fc.constantFrom('a', 'b'), text: whole }),
      fc.record({ type: fc.constantFrom('end', 'call'), id: fc.constantFrom('a', 'b') }),
      fc.record({ type: fc.constant('return'), id: fc.constantFrom('a', 'b'), text }),
    );
    const calm: fc.Arbitrary<Act> = fc.oneof(
      fc.record({
        by: fc.constant('engine' as const),
        step: fc.constant(0),
        frames: fc.array(rootFrame, { minLength: 1, maxLength: 6 }),
      }),
      fc.record({ by: fc.constant('platform' as const), frames: fc.array(platform, { minLength: 1, maxLength: 3 }) }),
    );
    fc.assert(
      fc.property(fc.array(calm, { maxLength: 12 }), (acts) => {
        const { deliveries } = logOf(acts, settled());
        const { events } = projectAll(deliveries);
        for (const message of ['a', 'b']) {
          const said = deliveries.flatMap((event) =>
            event.kind === 'message.delta' && event.messageId === message ? [event.text] : [],
          );
          const shown = events.flatMap((event) =>
            event.type === 'text.delta' && event.data.message_id.replace(/~\d+$/, '') === message
              ? [event.data.delta]
              : [],
          );
          expect(shown.join('')).toBe(cleanText(said.join('')));
        }
        const calls = deliveries.filter(({ kind }) => kind === 'tool.completed').length;
        const ends = events.filter(({ type }) => type === 'tool.finished' || type === 'tool.error');
        expect(ends).toHaveLength(calls);
      }),
      RUNS,
    );
  });
});
