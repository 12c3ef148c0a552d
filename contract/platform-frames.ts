import { z } from 'zod';
import { NegotiatedCapabilities } from './capabilities.ts';
import { FormField } from './form.ts';
import { previewText, utf8Bytes, type NativeFrame } from './frames.ts';
import type { CanonicalBody } from './canonical.ts';
import { DROP_REASONS, INPUT_QUEUES, type InputQueue } from './queued-input.ts';
import type { Speaker } from './sub-agent.ts';

/** How much of an input, of a tool's arguments or of its output the timeline shows; the whole is read by REST. */
export const PREVIEW_LIMIT_CHARS = 2_000;
const INPUT_PREVIEW_CHARS = 8_000;

const stepNumber = z.int().nonnegative();

/** The sub-agent that a frame is about; left out for the run's own agent. */
const speaker = z.strictObject({ nativeSessionId: z.string(), nativeParentSessionId: z.string() }).optional();

/**
 * The platform's own frames (provider `tidemark`): they live in the same lane as the engine's, so that translating the
 * sealed lane from scratch gives the whole run (design, invariant 2).
 */
export const PlatformFrame = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('run.input'), input: z.string(), inputBytes: z.int() }),
  z.strictObject({
    type: z.literal('session.opened'),
    capabilities: NegotiatedCapabilities,
    source: z.string(),
    nativeSessionId: z.string().optional(),
    generation: z.int().positive().optional(),
    /** A session of before was taken up again. */
    resumed: z.boolean().optional(),
  }),
  /** A new engine process takes over from one that nobody saw end. */
  z.strictObject({ type: z.literal('session.reconciling'), generation: z.int().positive(), detail: z.string() }),
  z.strictObject({ type: z.literal('step.started'), step: stepNumber, kind: z.string(), attempt: z.int() }),
  z.strictObject({ type: z.literal('step.ended'), step: stepNumber, status: z.string() }),
  /** A sub-agent is given up: nobody goes on with what its steps have open. */
  z.strictObject({ type: z.literal('steps.abandoned'), first: stepNumber, last: stepNumber }),
  z.strictObject({
    type: z.literal('interrupt.requested'),
    interruptId: z.string(),
    kind: z.enum(['approval', 'question']),
    prompt: z.string(),
    options: z.array(z.string()),
    /** Of a question with fields of its own. */
    fields: z.array(FormField).optional(),
    toolCallId: z.string(),
    toolName: z.string(),
    input: z.unknown(),
    speaker,
  }),
  z.strictObject({
    type: z.literal('interrupt.resolved'),
    interruptId: z.string(),
    kind: z.enum(['approval', 'question']),
    decision: z.string(),
    message: z.string().optional(),
    answer: z.string().optional(),
    input: z.unknown().optional(),
    speaker,
  }),
  z.strictObject({
    type: z.literal('session.parked'),
    interrupts: z.array(z.string()),
    revision: z.int().nonnegative(),
    headRef: z.string(),
  }),
  /** A model call takes an input that waited for it. */
  z.strictObject({
    type: z.literal('input.injected'),
    inputId: z.string().min(1),
    queue: z.enum(INPUT_QUEUES),
    input: z.string(),
    inputBytes: z.int(),
  }),
  z.strictObject({
    type: z.literal('input.dropped'),
    inputs: z.array(z.strictObject({ inputId: z.string(), queue: z.enum(INPUT_QUEUES) })).min(1),
    reason: z.enum(DROP_REASONS),
  }),
  z.strictObject({ type: z.literal('run.warning'), code: z.string(), message: z.string() }),
  z.strictObject({
    type: z.literal('run.settled'),
    status: z.enum(['completed', 'failed']),
    stopReason: z.string(),
    error: z.strictObject({ code: z.string(), message: z.string() }).optional(),
    /** The session as this settlement committed it. */
    session: z.strictObject({ revision: z.int().nonnegative(), headRef: z.string() }).optional(),
  }),
]);
export type PlatformFrame = z.infer<typeof PlatformFrame>;

type Said =
  | readonly { readonly body: CanonicalBody; readonly native?: Partial<Speaker> }[]
  | { readonly suppressed: string };

/** Frame 0 of a lane. */
export function inputFrame(input: string): PlatformFrame {
  return { type: 'run.input', input: previewText(input, INPUT_PREVIEW_CHARS), inputBytes: utf8Bytes(input) };
}

/** What a lane says of an input that its run takes while it works. */
export function injectedFrame(input: { inputId: string; queue: InputQueue; text: string }): PlatformFrame {
  const { inputId, queue, text } = input;
  return {
    type: 'input.injected',
    inputId,
    queue,
    input: previewText(text, INPUT_PREVIEW_CHARS),
    inputBytes: utf8Bytes(text),
  };
}

/** Tool arguments as the timeline shows them: the value itself while it is small, else a preview of its JSON. */
export function previewInput(value: unknown): unknown {
  const text = JSON.stringify(value);
  return text === undefined || text.length <= PREVIEW_LIMIT_CHARS ? value : previewText(text, PREVIEW_LIMIT_CHARS);
}

export function translatePlatformFrame(raw: NativeFrame): Said | undefined {
  const parsed = PlatformFrame.safeParse(raw);
  if (!parsed.success) return undefined;
  const frame = parsed.data;
  switch (frame.type) {
    case 'run.input':
      return [{ body: { kind: 'turn.started', input: frame.input, inputBytes: frame.inputBytes } }];
    case 'session.opened':
      return [opened(frame)];
    case 'session.reconciling':
      return [{ body: reconciling(frame) }];
    case 'step.started':
      return frame.attempt === 1 ? { suppressed: 'bookkeeping of a step' } : [{ body: repeating(frame) }];
    case 'step.ended':
      return { suppressed: 'bookkeeping of a step' };
    case 'steps.abandoned':
      return { suppressed: 'nothing of these steps was open' };
    case 'interrupt.requested':
      return [spoken(requested(frame), frame.speaker)];
    case 'interrupt.resolved':
      return [spoken(resolved(frame), frame.speaker)];
    case 'session.parked': {
      const { interrupts, revision, headRef } = frame;
      return [{ body: sessionState({ state: 'parked', revision, headRef, interrupts }) }];
    }
    case 'input.injected': {
      const { input, inputBytes, inputId, queue } = frame;
      return [{ body: { kind: 'turn.started', input, inputBytes, inputId, queue } }];
    }
    case 'input.dropped':
      return [{ body: dropped(frame) }];
    case 'run.warning':
      return [{ body: { kind: 'harness.warning', message: frame.message, code: frame.code } }];
    case 'run.settled': {
      const { stopReason, session, error } = frame;
      const committed = session === undefined ? [] : [sessionState({ state: 'committed', ...session })];
      const failure: CanonicalBody[] =
        error === undefined ? [] : [{ kind: 'harness.error', message: error.message, fatal: true, code: error.code }];
      return [...committed, ...failure, { kind: 'turn.completed' as const, stopReason }].map((body) => ({ body }));
    }
  }
}

function spoken(body: CanonicalBody, native: Speaker | undefined) {
  return native === undefined ? { body } : { body, native };
}

function opened(frame: Extract<PlatformFrame, { type: 'session.opened' }>) {
  const { capabilities, source, nativeSessionId } = frame;
  const body = { kind: 'session.started', capabilities, source } as const;
  return nativeSessionId === undefined ? { body } : { body, native: { nativeSessionId } };
}

function reconciling(frame: Extract<PlatformFrame, { type: 'session.reconciling' }>): CanonicalBody {
  const { type: sourceEventType, generation, detail } = frame;
  const title = 'the engine is taken up again';
  return {
    kind: 'context.marker',
    markerType: 'reconciling',
    title,
    detail,
    sourceEventType,
    sourcePayload: { generation },
  };
}

/** The engine's session as the platform committed it: what a leg's end may claim (lifecycle v1, rules 13 and 14). */
function sessionState(session: {
  state: 'parked' | 'committed';
  revision: number;
  headRef: string;
  interrupts?: string[];
}): CanonicalBody {
  return { kind: 'session.metadata', metadata: { ...session, durability: 'committed' } };
}

function dropped({ type, inputs, reason }: Extract<PlatformFrame, { type: 'input.dropped' }>): CanonicalBody {
  const what = inputs.length === 1 ? 'a queued input was' : `${String(inputs.length)} queued inputs were`;
  const why = reason === 'cleared' ? 'the queue was cleared' : 'the run ended before it took more';
  return {
    kind: 'harness.warning',
    message: `${what} dropped: ${why}`,
    code: 'input_dropped',
    rawEventType: type,
    rawPayload: { inputs, reason },
  };
}

function repeating(frame: Extract<PlatformFrame, { type: 'step.started' }>): CanonicalBody {
  return {
    kind: 'context.marker',
    markerType: 'reconciling',
    title: `step ${String(frame.step)} is repeated`,
    detail: 'the attempt before it ended without a result; what it had said is withdrawn',
    sourceEventType: frame.type,
    sourcePayload: { step: frame.step, kind: frame.kind, attempt: frame.attempt },
  };
}

function requested(frame: Extract<PlatformFrame, { type: 'interrupt.requested' }>): CanonicalBody {
  const { interruptId, prompt, options, toolCallId, toolName, input } = frame;
  if (frame.kind === 'approval') {
    return {
      kind: 'approval.requested',
      approvalId: interruptId,
      operation: prompt,
      options,
      toolCallId,
      toolName,
      input,
    };
  }
  const asked = { kind: 'question.requested', questionId: interruptId, prompt, toolCallId } as const;
  const questions = (frame.fields ?? []).map(questionOf);
  return {
    ...asked,
    ...(options.length > 0 ? { options } : {}),
    ...(questions.length > 0 ? { questions } : {}),
  };
}

type Question = NonNullable<CanonicalBody<'question.requested'>['questions']>[number];

/** A field as the grammar's question: `header` is the key of its value. */
function questionOf({ name, prompt, type, options, multiple, custom }: FormField): Question {
  const offered = type === 'boolean' ? [{ label: 'true' }, { label: 'false' }] : options;
  return { header: name, prompt, options: offered, multiple, custom: type === 'choice' ? custom : type !== 'boolean' };
}

function resolved(frame: Extract<PlatformFrame, { type: 'interrupt.resolved' }>): CanonicalBody {
  if (frame.kind === 'question') {
    const answered = frame.decision === 'answered';
    return {
      kind: 'question.resolved',
      questionId: frame.interruptId,
      answer: frame.answer ?? '',
      status: answered ? 'answered' : 'rejected',
    };
  }
  return {
    kind: 'approval.resolved',
    approvalId: frame.interruptId,
    decision: frame.decision,
    ...(frame.input === undefined ? {} : { input: frame.input }),
    ...(frame.message === undefined ? {} : { message: frame.message }),
  };
}
