import type { CanonicalEvent, DeliveredEvent } from './canonical.ts';
import { PLATFORM, type FrameSegment, type NativeFrame } from './frames.ts';
import type { PlatformFrame } from './platform-frames.ts';
import { INITIAL_LANE_STATE, translateSegment, stateless, type LaneState } from './translation.ts';

/** A run's delivery log as Postgres would hold it, for tests: frames in, deliveries out, revisions and retractions included. */
export const lane = { runId: 'run_1', threadId: 'thr_1' };
export const projectedRun = { ...lane, engine: 'builtin' };

/**
 * A small engine with every kind that matters here: `say`, `think`, `end`, `think-end`, `call`, `return`, `fail`, `spawn`, `join`,
 * and any canonical body as `body`. `session` and `parent` are the native session ids.
 */
export const engine = stateless((frame) => {
  const id = (frame['id'] as string | undefined) ?? 'm';
  const text = (frame['text'] as string | undefined) ?? '';
  const session = frame['session'] as string | undefined;
  const parent = frame['parent'] as string | undefined;
  const native = {
    ...(session === undefined ? {} : { nativeSessionId: session }),
    ...(parent === undefined ? {} : { nativeParentSessionId: parent }),
  };
  const launch = frame['launch'] as string | undefined;
  const bodyOf = () => {
    switch (frame.type) {
      case 'say':
        return { kind: 'message.delta', messageId: id, text } as const;
      case 'think':
        return { kind: 'reasoning.delta', messageId: id, text } as const;
      case 'end':
        return { kind: 'message.completed', messageId: id, ...('text' in frame ? { text } : {}) } as const;
      case 'think-end':
        return { kind: 'reasoning.completed', messageId: id } as const;
      case 'call':
        return { kind: 'tool.started', toolCallId: id, name: 'tool', input: frame['input'] ?? { path: 'a' } } as const;
      case 'return':
        return { kind: 'tool.completed', toolCallId: id, status: 'ok', preview: text } as const;
      case 'fail':
        return { kind: 'tool.completed', toolCallId: id, status: 'error', error: text } as const;
      case 'spawn': {
        const from = launch === undefined ? {} : { launchToolCallId: launch };
        return {
          kind: 'child.started',
          childId: id,
          title: 'Helper',
          ...from,
          ...(parent === undefined ? {} : { parentChildId: parent }),
        } as const;
      }
      case 'join':
        return {
          kind: 'child.completed',
          childId: id,
          status: frame['ok'] === false ? 'error' : 'ok',
          result: text,
        } as const;
      case 'body':
        return frame['body'] as Extract<CanonicalEvent, { kind: 'usage.updated' }>;
      default:
        return undefined;
    }
  };
  const body = bodyOf();
  return body === undefined ? undefined : [{ body, native }];
});

interface Said {
  readonly event: CanonicalEvent;
  readonly stepIndex: number | null;
  readonly revision: number;
  readonly retracted: boolean;
}

export class Log {
  readonly deliveries: DeliveredEvent[] = [];
  readonly #said = new Map<string, Said>();
  #state: LaneState = INITIAL_LANE_STATE;
  #frames = 0;

  /** Frames of the engine, stored together. */
  engine(frames: readonly NativeFrame[], stepIndex = 0, attempt = 1): this {
    return this.#append('engine', frames, stepIndex, attempt);
  }

  platform(...frames: readonly PlatformFrame[]): this {
    return this.#append(PLATFORM, frames, null, 1);
  }

  #append(provider: string, frames: readonly NativeFrame[], stepIndex: number | null, attempt: number): this {
    const stamped = frames.map((frame, i) => ({ at: 1_700_000_000_000 + this.#frames + i, frame }));
    const segment: FrameSegment = { firstSeq: this.#frames, provider, stepIndex, attempt, frames: stamped };
    this.#frames += frames.length;
    const { state, operations } = translateSegment(lane, this.#state, segment, engine);
    this.#state = JSON.parse(JSON.stringify(state)) as LaneState;
    for (const operation of operations) {
      if (operation.op === 'emit') {
        const held = this.#said.get(operation.event.eventId);
        const event = { ...operation.event, seq: held?.event.seq ?? this.#said.size } as CanonicalEvent;
        this.#deliver({
          event,
          stepIndex: operation.stepIndex,
          revision: (held?.revision ?? -1) + 1,
          retracted: false,
        });
        continue;
      }
      for (const said of Array.from(this.#said.values())) {
        if (said.stepIndex !== operation.stepIndex || said.retracted) continue;
        this.#deliver({ ...said, revision: said.revision + 1, retracted: true });
      }
    }
    return this;
  }

  #deliver(said: Said): void {
    this.#said.set(said.event.eventId, said);
    const deliverySeq = this.deliveries.length + 1;
    const retracted = said.retracted ? { retracted: true as const } : {};
    this.deliveries.push({ ...said.event, deliverySeq, revision: said.revision, ...retracted });
  }
}

export const input: PlatformFrame = { type: 'run.input', input: 'hello', inputBytes: 5 };
export const repeatOf = (step: number, attempt: number): PlatformFrame => ({
  type: 'step.started',
  step,
  kind: 'model',
  attempt,
});
export const parked = (...interrupts: string[]): PlatformFrame => ({
  type: 'session.parked',
  interrupts,
  revision: 3,
  headRef: 'head-3',
});

export function approval(interruptId: string, toolCallId: string, value: unknown = { path: 'a' }): PlatformFrame {
  const options = ['approve', 'edit', 'reject'];
  return {
    type: 'interrupt.requested',
    interruptId,
    kind: 'approval',
    prompt: 'run tool',
    options,
    toolCallId,
    toolName: 'tool',
    input: value,
  };
}

export function question(interruptId: string, toolCallId: string, options: string[] = []): PlatformFrame {
  return {
    type: 'interrupt.requested',
    interruptId,
    kind: 'question',
    prompt: `${interruptId}?`,
    options,
    toolCallId,
    toolName: 'ask_user',
    input: {},
  };
}

export function decided(interruptId: string, decision: string, edited?: unknown): PlatformFrame {
  return {
    type: 'interrupt.resolved',
    interruptId,
    kind: 'approval',
    decision,
    ...(edited === undefined ? {} : { input: edited }),
  };
}

export function answered(interruptId: string, decision = 'answered'): PlatformFrame {
  return { type: 'interrupt.resolved', interruptId, kind: 'question', decision, answer: 'blue' };
}

export function settled(
  stopReason = 'stop',
  more: { error?: { code: string; message: string }; uncommitted?: true } = {},
): PlatformFrame {
  const session = more.uncommitted === true ? {} : { session: { revision: 8, headRef: 'head-8' } };
  const error = more.error === undefined ? {} : { error: more.error };
  return {
    type: 'run.settled',
    status: stopReason === 'stop' ? 'completed' : 'failed',
    stopReason,
    ...session,
    ...error,
  };
}
