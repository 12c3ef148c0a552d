import { z } from 'zod';
import * as limit from './lifecycle-limits.ts';
import {
  Code,
  CountedTokens,
  Delta,
  Id,
  JsonObject,
  Message,
  MetadataText,
  Name,
  Prompt,
  ToolResult,
  WarningDetails,
} from './lifecycle-fields.ts';

/**
 * Canonical Lifecycle Events v1: 21 event types in one strict envelope. What an adapter of the `lifecycle` engine speaks, and
 * what `encoding=lifecycle` shows of a run of any engine. Unknown fields are refused at every level; every string, list and
 * number is bounded by a constant of `lifecycle-limits.ts`.
 *
 * A value from outside goes through `validateLifecycleEvent` (lifecycle-validate.ts), which also refuses what a schema does not
 * see; the order of events is the state machine's (lifecycle-machine.ts).
 */
export const LIFECYCLE_VERSION = 1;

export const SideEffectStatus = z.enum(['none', 'possible', 'known']);
export type SideEffectStatus = z.infer<typeof SideEffectStatus>;

/** The session as the platform holds it; only `committed` may be shown on `run.finished` (rule 13). */
export const ThreadState = z.strictObject({
  durability: z.enum(['pending', 'committed', 'uncertain', 'failed']),
  durable_revision: z.int().nonnegative(),
  head_ref: Id,
});
export type ThreadState = z.infer<typeof ThreadState>;

const FieldValue = z.union([Prompt, z.number(), z.boolean(), z.null(), z.array(Prompt).max(limit.FIELD_VALUES_LIMIT)]);

export const FormField = z.strictObject({
  field_name: Name,
  field_type: z.enum(['text', 'select', 'multiselect', 'boolean', 'number', 'url', 'email']),
  required: z.boolean(),
  field_label: Prompt.optional(),
  field_description: Prompt.optional(),
  field_values: z.array(Prompt).max(limit.FIELD_VALUES_LIMIT).optional(),
  default_value: FieldValue.optional(),
  placeholder: Prompt.optional(),
  value: FieldValue.optional(),
});
export type FormField = z.infer<typeof FormField>;

export const ApprovalDecision = z.enum(['approve', 'edit', 'reject']);
export type ApprovalDecision = z.infer<typeof ApprovalDecision>;

export const ToolApproval = z.strictObject({
  tool_call_id: Id,
  tool_name: Name,
  tool_args: JsonObject,
  allowed_decisions: z
    .array(ApprovalDecision)
    .min(1)
    .max(ApprovalDecision.options.length)
    .refine(areDistinct, 'names a decision twice'),
});
export type ToolApproval = z.infer<typeof ToolApproval>;

export const FormInterrupt = z.strictObject({
  interrupt_id: Id,
  interrupt_type: z.literal('form_input'),
  agent_id: Id,
  prompt: Prompt,
  fields: z
    .array(FormField)
    .min(1)
    .max(limit.FORM_FIELDS_LIMIT)
    .refine((fields) => areDistinct(fields.map((field) => field.field_name)), 'names a field twice'),
});
export type FormInterrupt = z.infer<typeof FormInterrupt>;

export const ApprovalInterrupt = z.strictObject({
  interrupt_id: Id,
  interrupt_type: z.literal('tool_approval'),
  agent_id: Id,
  tool_approvals: z
    .array(ToolApproval)
    .min(1)
    .max(limit.TOOL_APPROVALS_LIMIT)
    .refine((calls) => areDistinct(calls.map((call) => call.tool_call_id)), 'names a tool call twice'),
});
export type ApprovalInterrupt = z.infer<typeof ApprovalInterrupt>;

const MetadataScalar = z.union([MetadataText, z.number(), z.boolean(), z.null()]);

/** The payload of each type: what stands in `data`. */
export const LIFECYCLE_DATA = {
  'run.started': z.strictObject({
    message_id: Id.optional(),
    harness_id: Id,
    adapter_version: Name,
    provider_run_id: Id.optional(),
  }),
  'run.finished': z.strictObject({
    outcome: z.literal('success'),
    stop_reason: Name,
    thread_state: ThreadState.optional(),
  }),
  'run.interrupted': z.strictObject({ interrupt_id: Id, reason: z.enum(['human_input', 'tool_approval']) }),
  'run.cancelled': z.strictObject({
    reason: z.enum(['client_request', 'disconnect', 'shutdown', 'deadline']),
    side_effect_status: SideEffectStatus,
  }),
  'run.error': z.strictObject({
    code: Code,
    message: Message,
    retryable: z.boolean(),
    retry_after_seconds: z.number().nonnegative().max(limit.RETRY_AFTER_LIMIT_SECONDS).nullable().optional(),
    side_effect_status: SideEffectStatus,
  }),
  'text.started': z.strictObject({ message_id: Id, role: z.literal('assistant') }),
  'text.delta': z.strictObject({ message_id: Id, delta: Delta }),
  'text.finished': z.strictObject({ message_id: Id }),
  'reasoning.started': z.strictObject({ message_id: Id, role: z.literal('assistant').optional() }),
  'reasoning.delta': z.strictObject({ message_id: Id, delta: Delta }),
  'reasoning.finished': z.strictObject({ message_id: Id }),
  'tool.started': z.strictObject({
    tool_call_id: Id,
    tool_name: Name,
    arguments: JsonObject,
    parent_message_id: Id.optional(),
  }),
  'tool.arguments.delta': z.strictObject({ tool_call_id: Id, delta: Delta }),
  'tool.finished': z.strictObject({
    tool_call_id: Id,
    result: ToolResult,
    result_ref: Id.optional(),
  }),
  'tool.error': z.strictObject({ tool_call_id: Id, code: Code, message: Message, retryable: z.boolean() }),
  'interrupt.requested': z.discriminatedUnion('interrupt_type', [FormInterrupt, ApprovalInterrupt]),
  'namespace.entered': z.strictObject({ agent_id: Id, agent_name: Name, parent_tool_call_id: Id }),
  'namespace.exited': z.strictObject({
    agent_id: Id,
    parent_tool_call_id: Id,
    outcome: z.enum(['success', 'interrupted', 'cancelled', 'error']),
  }),
  warning: z.strictObject({ code: Code, message: Message, details: WarningDetails.optional() }),
  'usage.updated': z.strictObject({
    input_tokens: CountedTokens.nullable().optional(),
    output_tokens: CountedTokens.nullable().optional(),
    cached_input_tokens: CountedTokens.nullable().optional(),
    cost: z.number().nonnegative().max(limit.COST_LIMIT).nullable().optional(),
    currency: z
      .string()
      .regex(/^[A-Z]{3}$/)
      .nullable()
      .optional(),
    final: z.boolean(),
  }),
  'provider.metadata': z.strictObject({
    provider: Name,
    model: Name,
    metadata: z.partialRecord(z.enum(limit.METADATA_KEYS), MetadataScalar),
  }),
} as const;

export type LifecycleType = keyof typeof LIFECYCLE_DATA;
export const LIFECYCLE_TYPES = Object.keys(LIFECYCLE_DATA) as readonly LifecycleType[];
export type LifecycleData<T extends LifecycleType> = Readonly<z.infer<(typeof LIFECYCLE_DATA)[T]>>;

const envelope = {
  version: z.literal(LIFECYCLE_VERSION),
  /** Stable for the run; the platform's is the leg's id: `<runId>`, then `<runId>.2`, … */
  run_id: Id,
  /** The thread. */
  conversation_id: Id,
  /** Strictly increasing from 0; a gap is legal. */
  sequence: z.int().nonnegative(),
  /** ISO 8601, UTC. Never used for ordering. */
  timestamp: z.iso.datetime().max(limit.TIMESTAMP_LIMIT_CHARS),
  /** The path of the sub-agent that speaks; empty for the root. */
  namespace: z.array(Id).max(limit.NAMESPACE_DEPTH_LIMIT),
};

/** The envelope without `type` and `data`. */
export type LifecycleEnvelope = Readonly<z.infer<z.ZodObject<typeof envelope, z.core.$strict>>>;
export type LifecycleEventOf<T extends LifecycleType> = {
  [K in T]: LifecycleEnvelope & { readonly type: K; readonly data: LifecycleData<K> };
}[T];

const variants = LIFECYCLE_TYPES.map((type) =>
  z.strictObject({ ...envelope, type: z.literal(type), data: LIFECYCLE_DATA[type] }),
);

/** Any lifecycle event, discriminated by `type`. */
export const LifecycleEvent = z.discriminatedUnion(
  'type',
  variants as [(typeof variants)[number], ...typeof variants],
) as unknown as z.ZodType<LifecycleEvent>;
export type LifecycleEvent = LifecycleEventOf<LifecycleType>;

/** What is said, before a stream gives it an envelope. */
export type LifecycleBody<T extends LifecycleType = LifecycleType> = {
  [K in T]: { readonly type: K; readonly data: LifecycleData<K> };
}[T];

/** The four endings of a stream; exactly one is its last event (rules 3 and 4). */
export const TERMINAL_TYPES = ['run.finished', 'run.interrupted', 'run.cancelled', 'run.error'] as const;
export type TerminalType = (typeof TERMINAL_TYPES)[number];

export function isTerminal<E extends { readonly type: LifecycleType }>(event: E): event is E & { type: TerminalType } {
  return (TERMINAL_TYPES as readonly LifecycleType[]).includes(event.type);
}

function areDistinct(names: readonly string[]): boolean {
  return new Set(names).size === names.length;
}

/**
 * Ends a switch over `type`: a type without a case does not compile.
 *
 * @throws Error at run time, when the value came from outside the types.
 */
export function assertNeverLifecycle(event: never): never {
  throw new Error(`unhandled lifecycle event type: ${String((event as { type?: unknown }).type)}`);
}
