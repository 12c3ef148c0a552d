import { fc } from './property-testkit.ts';
import { describe, expect, it } from 'vitest';
import type { FrameSegment, NativeFrame } from './frames.ts';
import {
  revisionsToTruth,
  SealedTranslation,
  type SaidEvent,
  type StoredEvent,
  type TruthEvent,
} from './sealed-translation.ts';
import { stepsOf } from './sub-agent.ts';
import { INITIAL_LANE_STATE, translateSegment, stateless, type LogOperation } from './translation.ts';

const lane = { runId: 'run_1', threadId: 'thr_1' };

/** A small engine: `say` is text, `think` is reasoning, `call`/`return` are a tool, `noise` says nothing, the rest is unknown. */
const engine = stateless((frame) => {
  const id = typeof frame['id'] === 'string' ? frame['id'] : 'm';
  switch (frame.type) {
    case 'say':
      return [{ body: { kind: 'message.delta', messageId: id, text: String(frame['text']) } }];
    case 'think':
      return [{ body: { kind: 'reasoning.delta', messageId: id, text: String(frame['text']) } }];
    case 'end':
      return [{ body: { kind: 'message.completed', messageId: id } }];
    case 'call':
      return [{ body: { kind: 'tool.started', toolCallId: id, name: 'tool' } }];
    case 'return':
      return [{ body: { kind: 'tool.completed', toolCallId: id, status: 'ok' } }];
    case 'noise':
      return { suppressed: 'noise' };
    case 'throw':
      throw new Error('translator fault');
    default:
      return undefined;
  }
});

function segment(firstSeq: number, frames: readonly NativeFrame[], step: number | null = 0, attempt = 1): FrameSegment {
  const provider = step === null ? 'tidemark' : 'engine';
  return {
    firstSeq,
    provider,
    stepIndex: step,
    attempt,
    frames: frames.map((frame, i) => ({ at: 1_000 + firstSeq + i, frame })),
  };
}

function run(segments: readonly FrameSegment[]): { operations: LogOperation[]; kinds: string[] } {
  let state = INITIAL_LANE_STATE;
  const operations: LogOperation[] = [];
  for (const each of segments) {
    const translated = translateSegment(lane, state, each, engine);
    state = translated.state;
    operations.push(...translated.operations);
  }
  return {
    operations,
    kinds: operations.map((operation) => (operation.op === 'emit' ? operation.event.kind : operation.op)),
  };
}

function truthOf(parts: readonly FrameSegment[]): SealedTranslation {
  const translation = new SealedTranslation(lane, engine);
  for (const part of parts) translation.add(part);
  return translation;
}

const settled: NativeFrame = { type: 'run.settled', status: 'completed', stopReason: 'stop' };

describe('translating a segment', () => {
  it('joins adjacent text of one message inside the segment and never across', () => {
    const { operations } = run([
      segment(0, [
        { type: 'say', text: 'Hel' },
        { type: 'say', text: 'lo' },
        { type: 'say', id: 'n', text: 'other' },
      ]),
      segment(3, [{ type: 'say', text: ' again' }]),
    ]);
    const texts = operations.flatMap((operation) =>
      operation.op === 'emit' && operation.event.kind === 'message.delta'
        ? [(operation.event as unknown as { text: string }).text]
        : [],
    );
    expect(texts).toEqual(['Hello', 'other', ' again']);
  });

  it('opens a message before its text and closes what is open when the run settles', () => {
    const { kinds } = run([
      segment(0, [
        { type: 'say', text: 'hi' },
        { type: 'think', text: 'hm' },
        { type: 'call', id: 'c' },
      ]),
      segment(3, [settled], null),
    ]);
    expect(kinds).toEqual([
      'message.started',
      'message.delta',
      'reasoning.delta',
      'tool.started',
      'reasoning.completed',
      'message.completed',
      'tool.completed',
      'turn.completed',
    ]);
  });

  it('closes what a sub-agent that is given up had open, in its name, and leaves the rest', () => {
    const theirs = stepsOf(4);
    const { operations } = run([
      segment(0, [{ type: 'say', text: 'mine' }], 2),
      segment(1, [{ type: 'say', id: 'n', text: 'theirs' }], theirs.first),
      segment(2, [{ type: 'call', id: 'c' }], theirs.first + 1),
      segment(3, [{ type: 'steps.abandoned', ...theirs }], null),
    ]);
    const closed = operations.flatMap((operation) => (operation.op === 'emit' ? [operation.event] : [])).slice(-2);
    expect(closed).toMatchObject([
      { kind: 'message.completed', messageId: 'n', identity: { nativeSessionId: 'run_1.c4' } },
      { kind: 'tool.completed', toolCallId: 'c', status: 'error', identity: { nativeSessionId: 'run_1.c4' } },
    ]);
  });

  it('says nothing after the end of the turn: late frames are accounted for and dropped', () => {
    const first = translateSegment(lane, INITIAL_LANE_STATE, segment(0, [settled], null), engine);
    const late = translateSegment(lane, first.state, segment(1, [{ type: 'say', text: 'late' }]), engine);
    expect(late.operations).toEqual([]);
    expect(late.dispositions).toEqual([{ frameSeq: 1, kinds: [], suppressed: 'late frame: the turn has settled' }]);
  });

  it('takes every id as an id, whatever it means to JavaScript', () => {
    for (const id of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
      const { kinds } = run([
        segment(0, [
          { type: 'say', id, text: 'hi' },
          { type: 'call', id },
          { type: 'return', id },
        ]),
        segment(3, [settled], null),
      ]);
      const closed = ['tool.started', 'tool.completed', 'message.completed', 'turn.completed'];
      expect(kinds).toEqual(['message.started', 'message.delta', ...closed]);
    }
  });

  it('warns of a native event without a mapping, and of a translator that throws', () => {
    const { operations } = run([segment(0, [{ type: 'mystery' }, { type: 'throw' }])]);
    expect(operations).toMatchObject([
      { event: { kind: 'harness.warning', rawEventType: 'mystery' } },
      { event: { kind: 'harness.warning', rawEventType: 'throw', message: 'frame not translated: translator fault' } },
    ]);
  });

  it('withdraws what a dead attempt said and gives the next attempt the same ids', () => {
    const { operations, kinds } = run([
      segment(0, [{ type: 'say', text: 'Once upon' }]),
      segment(1, [{ type: 'step.started', step: 0, kind: 'model', attempt: 2 }], null),
      segment(2, [{ type: 'say', text: 'Hello' }], 0, 2),
    ]);
    expect(kinds).toEqual([
      'message.started',
      'message.delta',
      'retract-step',
      'context.marker',
      'message.started',
      'message.delta',
    ]);
    const ids = operations.flatMap((operation) => (operation.op === 'emit' ? [operation.event.eventId] : []));
    expect(ids[3]).toBe(ids[0]);
    expect(ids[4]).toBe(ids[1]);
  });

  it('accounts for every frame, whatever the frames are, and gives the same answer twice', () => {
    const frame = fc.oneof(
      fc.record({
        type: fc.constantFrom('say', 'think', 'end', 'call', 'return', 'noise', 'mystery', 'throw'),
        id: fc.constantFrom('a', 'b'),
        text: fc.string(),
      }),
      fc.constantFrom<NativeFrame>(settled, { type: 'run.input', input: 'x', inputBytes: 1 }, { type: 'run.input' }),
    );
    const segments = fc.array(fc.tuple(fc.array(frame, { minLength: 1, maxLength: 6 }), fc.constantFrom(0, 1, null)));
    fc.assert(
      fc.property(segments, (parts) => {
        let seq = 0;
        let state = INITIAL_LANE_STATE;
        for (const [frames, step] of parts) {
          const each = segment(seq, frames, step);
          seq += frames.length;
          const once = translateSegment(lane, state, each, engine);
          expect(translateSegment(lane, state, each, engine)).toEqual(once);
          expect(once.dispositions).toHaveLength(frames.length);
          for (const { kinds, suppressed } of once.dispositions)
            expect(kinds.length > 0 || suppressed !== undefined).toBe(true);
          state = once.state;
        }
      }),
    );
  });
});

describe('the sealed truth', () => {
  const segments = [
    segment(0, [{ type: 'say', text: 'one' }]),
    segment(1, [{ type: 'step.started', step: 0, kind: 'model', attempt: 2 }], null),
    segment(2, [{ type: 'say', text: 'two' }], 0, 2),
    segment(3, [settled], null),
  ];

  it('asks for nothing where the log says it already', () => {
    const truth = truthOf(segments).events;
    const said = [...truth.values()].map((event): SaidEvent => ({ ...event, revision: 0 }));
    expect(revisions(truth, said)).toEqual([]);
  });

  it('revises what differs, adds what is missing and retracts what the truth does not contain', () => {
    const truth = truthOf(segments).events;
    const [first, second, ...rest] = [...truth.values()].map((event): SaidEvent => ({ ...event, revision: 2 }));
    if (first === undefined || second === undefined) throw new Error('the truth has events');
    const changed = { ...first, event: { ...first.event, ts: 5 } };
    const invented = { ...second, event: { ...second.event, eventId: 'run_1:invented', seq: 99 } };
    const wanted = revisions(truth, [changed, ...rest, invented]);
    expect(wanted.map(({ event, revision, retracted }) => [event.eventId, revision, retracted])).toEqual([
      [first.event.eventId, 3, false],
      [second.event.eventId, 0, false],
      ['run_1:invented', 3, true],
    ]);
  });
});

function revisions(truth: ReadonlyMap<string, TruthEvent>, said: readonly SaidEvent[]): SaidEvent[] {
  const stored = said.map(({ event, ...rest }): [string, StoredEvent] => [
    event.eventId,
    { ...rest, body: JSON.stringify(event) },
  ]);
  return [...revisionsToTruth(truth, new Map(stored))].filter((revision) => revision !== null);
}
