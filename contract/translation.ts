import { CanonicalEvent, type CanonicalBody, type CanonicalIdentity, type CanonicalKind } from './canonical.ts';
import { PLATFORM, type FrameSegment, type NativeFrame, type StampedFrame } from './frames.ts';
import {
  closeEverything,
  closeWorkOfSteps,
  closeWorkOnly,
  copyOf,
  endStep,
  forgetStep,
  guard,
  initialGrammar,
  type Closing,
  type GrammarState,
} from './grammar-state.ts';
import { speakerOfStep } from './sub-agent.ts';
import { translatePlatformFrame } from './platform-frames.ts';

/** What an engine's translator is told about a frame beside the frame itself. */
export interface FrameContext {
  readonly runId: string;
  readonly provider: string;
  readonly stepIndex: number | null;
  readonly attempt: number;
}

/** One event that a translator wants said, and the native ids that it knows. */
export interface Emission {
  readonly body: CanonicalBody;
  readonly native?: Partial<Omit<CanonicalIdentity, 'provider' | 'nativeEventId' | 'nativeSeq'>>;
}

/** Total accounting: a frame gives at least one event, or a named reason for none. */
export type Translated = readonly Emission[] | { readonly suppressed: string };

/** What an engine's translator remembers from frame to frame: plain JSON, small, kept in the lane's row; at first `undefined`. */
export type EngineState = unknown;

export interface Translation {
  /** `undefined`: the dialect has no such frame, and the caller says so by a `harness.warning`. */
  readonly said: Translated | undefined;
  /** What to remember for the next frame; left out where it does not change. */
  readonly state?: EngineState;
}

/**
 * An engine's dialect: a pure reducer, total over that engine's frames.
 *
 * **Contract:** the same frame, context and state give the same answer. `state` is never changed in place. Never throws for a
 * frame's content.
 */
export type TranslateFrame = (frame: NativeFrame, context: FrameContext, state: EngineState) => Translation;

/** The dialect of an engine each of whose frames speaks for itself. */
export function stateless(
  translate: (frame: NativeFrame, context: FrameContext) => Translated | undefined,
): TranslateFrame {
  return (frame, context) => ({ said: translate(frame, context) });
}

/** The dialect of an engine whose frames lean on those before; `initial` is the state before the lane's first. */
export function stateful<S>(
  initial: S,
  translate: (state: S, frame: NativeFrame, context: FrameContext) => { state: S; said: Translated | undefined },
): TranslateFrame {
  return (frame, context, state) => translate((state ?? initial) as S, frame, context);
}

/** For what only the platform says. */
export const saysNothing: TranslateFrame = () => ({ said: undefined });

/** The translator's whole state after a frame: plain JSON, kept in the lane's row. */
export interface LaneState {
  readonly grammar: GrammarState;
  readonly engine?: EngineState;
}

export const INITIAL_LANE_STATE: LaneState = { grammar: initialGrammar };

/** What the log is asked to do, in order. */
export type LogOperation =
  | { readonly op: 'emit'; readonly event: Omit<CanonicalEvent, 'seq'>; readonly stepIndex: number | null }
  /** A new attempt at a step begins: what the attempt that died had said is withdrawn. */
  | { readonly op: 'retract-step'; readonly stepIndex: number };

/** How a frame was accounted for. */
export interface Disposition {
  readonly frameSeq: number;
  readonly kinds: readonly CanonicalKind[];
  readonly suppressed?: string;
}

export interface LaneIdentity {
  readonly runId: string;
  readonly threadId: string;
}

/**
 * Translates one stored segment: frames in, operations on the log out (design §3.6, §9 "Rules that every translator needs").
 *
 * **Contract:** deterministic; every frame is accounted for in `dispositions`; adjacent text of one message is joined; ids
 * are made from (run, step, kind, native id, ordinal). `state` is not changed.
 */
export function translateSegment(
  lane: LaneIdentity,
  state: LaneState,
  segment: FrameSegment,
  engine: TranslateFrame,
): { state: LaneState; operations: LogOperation[]; dispositions: Disposition[] } {
  const grammar = copyOf(state.grammar);
  let remembered = state.engine;
  const operations: LogOperation[] = [];
  const dispositions: Disposition[] = [];
  let joined: { key: string; event: { text: string } } | null = null;

  const emit = (emission: Emission, stamped: StampedFrame, frameSeq: number): CanonicalKind[] => {
    const kinds: CanonicalKind[] = [];
    for (const body of guard(grammar, emission.body, segment.stepIndex)) {
      kinds.push(body.kind);
      const subject = subjectOf(body);
      const joinKey = isDelta(body) ? `${body.kind}|${subject}` : '';
      if (isDelta(body) && joined?.key === joinKey) {
        joined.event.text += body.text;
        continue;
      }
      const event = {
        schemaVersion: 1 as const,
        eventId: `${lane.runId}:${nextKey(grammar, segment.stepIndex, body.kind, subject)}`,
        runId: lane.runId,
        threadId: lane.threadId,
        turnId: lane.runId,
        ts: stamped.at,
        identity: {
          provider: segment.provider,
          ...emission.native,
          nativeEventId: `${lane.runId}:${String(frameSeq)}`,
          nativeSeq: frameSeq,
        },
        ...body,
      };
      joined = isDelta(body) ? { key: joinKey, event: event as unknown as { text: string } } : null;
      operations.push({ op: 'emit', event: checked(event), stepIndex: segment.stepIndex });
    }
    return kinds;
  };

  segment.frames.forEach((stamped, offset) => {
    const frameSeq = segment.firstSeq + offset;
    const { frame } = stamped;
    if (grammar.settled) {
      dispositions.push({ frameSeq, kinds: [], suppressed: 'late frame: the turn has settled' });
      return;
    }
    if (frame.type === 'step.started' && segment.provider === PLATFORM && Number(frame['attempt']) > 1) {
      const stepIndex = Number(frame['step']);
      forgetStep(grammar, stepIndex);
      joined = null;
      operations.push({ op: 'retract-step', stepIndex });
    }
    if (frame.type === 'step.ended' && segment.provider === PLATFORM) endStep(grammar, Number(frame['step']));
    const translated = translate(frame) ?? unmapped(frame);
    const closing = segment.provider === PLATFORM ? closingOf(frame, grammar) : [];
    if ('suppressed' in translated && closing.length === 0) {
      dispositions.push({ frameSeq, kinds: [], ...translated });
      return;
    }
    const wanted = 'suppressed' in translated ? [] : translated;
    const emissions = [...closing.map((closed) => spokenClosing(lane.runId, closed)), ...wanted];
    const kinds = emissions.flatMap((emission) => emit(emission, stamped, frameSeq));
    dispositions.push(kinds.length > 0 ? { frameSeq, kinds } : { frameSeq, kinds, suppressed: 'already said' });
  });
  return { state: remembered === undefined ? { grammar } : { grammar, engine: remembered }, operations, dispositions };

  function translate(frame: NativeFrame): Translated | undefined {
    if (segment.provider === PLATFORM) return translatePlatformFrame(frame);
    const { provider, stepIndex, attempt } = segment;
    const context = { runId: lane.runId, provider, stepIndex, attempt };
    const { said, state: next } = safely(engine, frame, context, remembered);
    if (next !== undefined) remembered = next;
    return said;
  }
}

function spokenClosing(runId: string, { body, step }: Closing): Emission {
  const speaker = speakerOfStep(runId, step);
  return speaker === null ? { body } : { body, native: speaker };
}

/**
 * What the platform's word ends: all of a run; of an engine's own loop that stopped in the middle, or of a sub-agent that is given up,
 * what nobody goes on with.
 */
function closingOf(frame: NativeFrame, grammar: GrammarState): Closing[] {
  if (frame.type === 'steps.abandoned') {
    const range = { first: Number(frame['first']), last: Number(frame['last']) };
    return closeWorkOfSteps(grammar, range, 'it was stopped before its end; what it did is unknown');
  }
  if (frame.type === 'run.settled') return closeEverything(grammar, 'the run ended before it did');
  if (frame.type !== 'step.ended') return [];
  if (frame['status'] === 'lost') return closeWorkOnly(grammar, 'nobody saw its end; what it did is unknown');
  return frame['status'] === 'parked' ? closeWorkOnly(grammar, 'it was stopped: the run waits for a person') : [];
}

type Delta = Extract<CanonicalBody, { kind: 'message.delta' | 'reasoning.delta' }>;

function isDelta(body: CanonicalBody): body is Delta {
  return body.kind === 'message.delta' || body.kind === 'reasoning.delta';
}

/** The native id that an event is about; empty for what is about the run as a whole. */
function subjectOf(body: CanonicalBody): string {
  if ('messageId' in body) return body.messageId;
  if ('toolCallId' in body && body.kind.startsWith('tool.')) return body.toolCallId ?? '';
  if ('approvalId' in body) return body.approvalId;
  if ('questionId' in body) return body.questionId;
  if ('childId' in body) return body.childId;
  return '';
}

/** (step, kind, native id, ordinal): never a clock, never a random number (design, invariant 2). */
function nextKey(grammar: GrammarState, stepIndex: number | null, kind: CanonicalKind, subject: string): string {
  const scope = stepIndex === null ? 'r' : String(stepIndex);
  const key = `${scope}:${kind}${subject === '' ? '' : `:${subject}`}`;
  const ordinal = grammar.counters[key] ?? 0;
  grammar.counters[key] = ordinal + 1;
  return `${key}:${String(ordinal)}`;
}

function safely(engine: TranslateFrame, frame: NativeFrame, context: FrameContext, state: EngineState): Translation {
  try {
    return engine(frame, context, state);
  } catch (error) {
    const message = `frame not translated: ${error instanceof Error ? error.message : String(error)}`;
    return { said: [{ body: { kind: 'harness.warning', message, rawEventType: frame.type } }] };
  }
}

function unmapped(frame: NativeFrame): readonly Emission[] {
  return [{ body: { kind: 'harness.warning', message: 'native event without a mapping', rawEventType: frame.type } }];
}

/** An event that breaks the grammar's schema would be a translator's fault; the reader is told, not misled. */
function checked(event: Omit<CanonicalEvent, 'seq'>): Omit<CanonicalEvent, 'seq'> {
  const parsed = CanonicalEvent.safeParse({ ...event, seq: 0 });
  if (parsed.success) return event;
  const { schemaVersion, eventId, runId, threadId, ts, identity, kind } = event;
  const issue = parsed.error.issues[0];
  const message = `${kind} left out: ${issue === undefined ? 'invalid' : `${issue.path.join('.')} ${issue.message}`}`;
  return {
    schemaVersion,
    eventId,
    runId,
    threadId,
    turnId: runId,
    ts,
    identity,
    kind: 'harness.warning',
    message,
    rawEventType: kind,
  } as Omit<CanonicalEvent, 'seq'>;
}
