import { z } from 'zod';
import { NegotiatedCapabilities } from './capabilities.ts';
import { INPUT_QUEUES } from './queued-input.ts';

/**
 * The canonical grammar: 30 event kinds in one envelope (agent contract, "The event vocabulary").
 *
 * Fields are those of the contract; what Tidemark adds is optional and listed in `docs/protocol.md`. An event is written
 * without `deliverySeq` and `revision`: those belong to the delivery, and `DeliveredEvent` adds them.
 */
export const SCHEMA_VERSION = 1;

/** Provenance: the provider tag and the engine's own ids, kept beside the neutral shape. */
export const CanonicalIdentity = z.strictObject({
  provider: z.string().min(1),
  nativeSessionId: z.string().optional(),
  nativeEventId: z.string().optional(),
  nativeSeq: z.number().optional(),
  nativeMessageId: z.string().optional(),
  nativePartId: z.string().optional(),
  nativeParentSessionId: z.string().optional(),
});
export type CanonicalIdentity = z.infer<typeof CanonicalIdentity>;

/** A large payload kept out of band; the timeline holds a bounded preview. `sha256` is 64 hex digits. */
export const ArtifactRef = z.strictObject({
  artifactId: z.string().min(1),
  bytes: z.int().nonnegative(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  contentType: z.string().min(1),
});
export type ArtifactRef = z.infer<typeof ArtifactRef>;

const envelope = {
  schemaVersion: z.literal(SCHEMA_VERSION),
  /** Stable per (run, native event): a changed re-emission is a revision of the same id. */
  eventId: z.string().min(1),
  /** Order inside the run, from 0. Not a delivery cursor. */
  seq: z.int().nonnegative(),
  runId: z.string().min(1),
  threadId: z.string().min(1),
  turnId: z.string().optional(),
  /** Milliseconds since the epoch: when the frame arrived here. An engine's clock is never trusted. */
  ts: z.int().nonnegative(),
  identity: CanonicalIdentity,
};

const jsonObject = z.record(z.string(), z.unknown());

const PlanEntry = z.strictObject({
  id: z.string(),
  text: z.string().min(1),
  status: z.enum(['pending', 'in_progress', 'completed', 'cancelled']),
});

const CatalogEntry = z.strictObject({
  name: z.string().min(1),
  description: z.string().optional(),
  input: z.string().optional(),
});

const Question = z.strictObject({
  header: z.string().optional(),
  prompt: z.string(),
  options: z.array(z.strictObject({ label: z.string(), description: z.string().optional() })),
  multiple: z.boolean(),
  custom: z.boolean(),
});

const childState = z.strictObject({
  status: z.string().optional(),
  prompt: z.string().optional(),
  summary: z.string().optional(),
  lastToolName: z.string().optional(),
  usage: z.record(z.string(), z.number()).optional(),
  model: z.string().optional(),
  role: z.string().optional(),
  resumable: z.boolean().optional(),
});

const nativeTiming = { nativeStatus: z.string().optional(), durationMs: z.number().nonnegative().optional() };

/** The body of each kind: what stands beside the envelope, flattened. */
export const CANONICAL_BODIES = {
  'session.started': {
    capabilities: NegotiatedCapabilities,
    source: z.string().optional(),
    executionCapabilities: jsonObject.optional(),
  },
  'session.metadata': { metadata: jsonObject },
  /** Said at a run's begin, and again with `inputId` for each input that a run at work has taken. */
  'turn.started': {
    input: z.string().optional(),
    inputBytes: z.int().nonnegative().optional(),
    inputId: z.string().min(1).optional(),
    queue: z.enum(INPUT_QUEUES).optional(),
  },
  'turn.completed': { stopReason: z.string().optional() },
  'message.started': { messageId: z.string().min(1) },
  'message.delta': { messageId: z.string().min(1), text: z.string() },
  'message.completed': { messageId: z.string().min(1), text: z.string().optional() },
  'reasoning.delta': { messageId: z.string().min(1), text: z.string() },
  'reasoning.completed': { messageId: z.string().min(1) },
  'plan.updated': { entries: z.array(PlanEntry).min(1) },
  'tool.started': {
    toolCallId: z.string().min(1),
    name: z.string(),
    title: z.string().optional(),
    input: z.unknown().optional(),
    server: z.string().optional(),
    ...nativeTiming,
  },
  'tool.progress': { toolCallId: z.string().min(1), preview: z.string().optional(), ...nativeTiming },
  'tool.completed': {
    toolCallId: z.string().min(1),
    status: z.enum(['ok', 'error']),
    preview: z.string().optional(),
    artifact: ArtifactRef.optional(),
    error: z.string().optional(),
    ...nativeTiming,
  },
  'file.changed': {
    path: z.string().min(1),
    changeType: z.enum(['create', 'edit', 'delete']),
    diff: ArtifactRef.optional(),
  },
  'artifact.created': { artifact: ArtifactRef, name: z.string() },
  'artifact.delivered': { artifact: ArtifactRef, name: z.string(), destination: z.string() },
  'terminal.output': { terminalId: z.string().optional(), chunk: z.string() },
  'child.started': {
    childId: z.string().min(1),
    parentChildId: z.string().optional(),
    launchToolCallId: z.string().optional(),
    title: z.string().optional(),
    state: childState.optional(),
  },
  'child.updated': { childId: z.string().min(1), status: z.string(), state: childState.optional() },
  'child.completed': {
    childId: z.string().min(1),
    status: z.enum(['ok', 'error']),
    result: z.string().optional(),
    state: childState.optional(),
  },
  'approval.requested': {
    approvalId: z.string().min(1),
    operation: z.string(),
    options: z.array(z.string()),
    toolCallId: z.string().optional(),
    toolName: z.string().optional(),
    input: z.unknown().optional(),
  },
  'approval.resolved': {
    approvalId: z.string().min(1),
    decision: z.string(),
    input: z.unknown().optional(),
    message: z.string().optional(),
  },
  'question.requested': {
    questionId: z.string().min(1),
    prompt: z.string(),
    options: z.array(z.string()).optional(),
    questions: z.array(Question).optional(),
    toolCallId: z.string().optional(),
  },
  'question.resolved': {
    questionId: z.string().min(1),
    answer: z.string(),
    answers: z.array(z.array(z.string())).optional(),
    status: z.enum(['answered', 'rejected']).optional(),
  },
  'commands.updated': {
    commands: z.array(z.string()),
    catalog: z.array(CatalogEntry).optional(),
    source: z.string().optional(),
    generation: z.number().optional(),
  },
  'mode.updated': { mode: z.string().optional(), model: z.string().optional() },
  'usage.updated': {
    inputTokens: z.number().nonnegative().optional(),
    outputTokens: z.number().nonnegative().optional(),
    costUsd: z.number().nonnegative().optional(),
    cachedInputTokens: z.number().nonnegative().optional(),
  },
  'context.marker': {
    markerType: z.enum(['memory', 'knowledge', 'skill', 'playbook', 'rule', 'reconciling']),
    title: z.string(),
    detail: z.string().optional(),
    sourceEventType: z.string(),
    sourcePayload: jsonObject.optional(),
  },
  'harness.warning': {
    message: z.string(),
    rawEventType: z.string().optional(),
    rawPayload: z.unknown().optional(),
    code: z.string().optional(),
  },
  'harness.error': { message: z.string(), fatal: z.boolean(), code: z.string().optional() },
} as const;

export type CanonicalKind = keyof typeof CANONICAL_BODIES;
export const CANONICAL_KINDS = Object.keys(CANONICAL_BODIES) as readonly CanonicalKind[];

type Body<K extends CanonicalKind> = Readonly<z.infer<z.ZodObject<(typeof CANONICAL_BODIES)[K], z.core.$strict>>>;

/** The envelope that every event carries. */
export type CanonicalEnvelope = Readonly<z.infer<z.ZodObject<typeof envelope, z.core.$strict>>>;
export type CanonicalEventOf<K extends CanonicalKind> = {
  [P in K]: CanonicalEnvelope & { readonly kind: P } & Body<P>;
}[K];
export type CanonicalEvent = CanonicalEventOf<CanonicalKind>;

const variants = CANONICAL_KINDS.map((kind) =>
  z.strictObject({ ...envelope, kind: z.literal(kind), ...CANONICAL_BODIES[kind] }),
);

/** Any canonical event, discriminated by `kind`, unknown fields refused (2.4 µs an event; a plain union costs 35). */
export const CanonicalEvent = z.discriminatedUnion(
  'kind',
  variants as [(typeof variants)[number], ...typeof variants],
) as unknown as z.ZodType<CanonicalEvent>;

/** What a translator says: kind and body, before the log gives it an envelope. */
export type CanonicalBody<K extends CanonicalKind = CanonicalKind> = {
  [P in K]: { readonly kind: P } & Body<P>;
}[K];

/** An event as a subscriber receives it. A `retracted` revision says that the sealed truth does not contain the event. */
export type DeliveredEvent = CanonicalEvent & {
  readonly deliverySeq: number;
  readonly revision: number;
  readonly retracted?: true;
};

/**
 * Ends a switch over `kind`: a kind without a case does not compile.
 *
 * @throws Error at run time, when the value came from outside the types.
 */
export function assertNeverEvent(event: never): never {
  const kind = (event as { kind?: unknown } | undefined)?.kind;
  throw new Error(`unhandled canonical event kind: ${String(kind)}`);
}
