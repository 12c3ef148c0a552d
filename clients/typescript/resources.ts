import { z } from 'zod';
import type { FormField } from '../../contract/form.ts';

/** What the gateway answers with. Objects are open: a newer server may say more. */
const time = z.string();
const jsonObject = z.record(z.string(), z.unknown());

export const Interrupt = z.looseObject({
  interrupt_id: z.string(),
  run_id: z.string(),
  thread_id: z.string(),
  kind: z.enum(['approval', 'question']),
  status: z.string(),
  prompt: z.string(),
  options: z.array(z.string()),
  form: z.custom<readonly FormField[]>((value) => Array.isArray(value)).nullish(),
  tool_call_id: z.string().nullable(),
  tool_name: z.string().nullable(),
  arguments: z.unknown(),
  decision: z.unknown(),
  deadline_at: time.nullable(),
});
export type Interrupt = z.infer<typeof Interrupt>;

export const Run = z.looseObject({
  run_id: z.string(),
  thread_id: z.string(),
  parent_run_id: z.string().nullable(),
  engine: z.string(),
  model: z.string(),
  status: z.string(),
  stop_reason: z.string().nullable(),
  error: z.looseObject({ code: z.string(), message: z.string() }).nullable(),
  cancelling: z.boolean(),
  canonical_state: z.string(),
  pending_interrupts: z.array(Interrupt),
  input: z.string(),
  metadata: jsonObject,
  temporal_ui_url: z.string().nullable(),
  created_at: time,
  started_at: time.nullable(),
  settled_at: time.nullable(),
  /** The input did not become a run of its own: it was handed to this one. */
  queued_input: z.looseObject({ input_id: z.string(), queue: z.string() }).optional(),
});
export type Run = z.infer<typeof Run>;

export const Thread = z.looseObject({
  thread_id: z.string(),
  title: z.string().nullable(),
  metadata: jsonObject,
  head: z.int().nonnegative(),
  retained_from: z.int(),
  erasing: z.boolean(),
  active_run_id: z.string().nullable(),
  created_at: time,
  updated_at: time,
});
export type Thread = z.infer<typeof Thread>;

export const Step = z.looseObject({
  step_index: z.int(),
  kind: z.string(),
  label: z.string().nullable(),
  attempt: z.int(),
  status: z.string(),
  started_at: time,
  ended_at: time.nullable(),
});
export type Step = z.infer<typeof Step>;

export const Frame = z.looseObject({
  seq: z.int(),
  provider: z.string(),
  step_index: z.int().nullable(),
  attempt: z.int().nullable(),
  at: z.number(),
  frame: z.looseObject({ type: z.string() }),
});
export type Frame = z.infer<typeof Frame>;

export const RunArtifact = z.looseObject({
  artifact_id: z.string(),
  name: z.string(),
  bytes: z.int(),
  sha256: z.string(),
  content_type: z.string(),
  created_at: time,
});
export type RunArtifact = z.infer<typeof RunArtifact>;

export const Engine = z.looseObject({
  engine: z.string(),
  kind: z.string(),
  installed: z.boolean(),
  version: z.string().nullable(),
  how_to_install: z.string().nullable(),
  capabilities: z.record(z.string(), z.boolean()),
  models: z.array(z.string()).nullable(),
  default_model: z.string().nullable(),
});
export type Engine = z.infer<typeof Engine>;

export const Session = z.looseObject({
  thread_id: z.string(),
  engine: z.string(),
  provider: z.string(),
  capabilities: z.record(z.string(), z.boolean()),
  generation: z.int(),
  revision: z.int(),
  durability: z.string(),
});
export type Session = z.infer<typeof Session>;

/** The server's own account of a run's proof. */
export const ServerVerification = z.looseObject({
  run_id: z.string(),
  canonical_state: z.string(),
  holds: z.boolean().nullable(),
  checked: z.array(z.string()),
  events_removed_at: time.nullable(),
});
export type ServerVerification = z.infer<typeof ServerVerification>;

export const QueuedInput = z.looseObject({ input_id: z.string(), queue: z.string(), state: z.string() });
export type QueuedInput = z.infer<typeof QueuedInput>;

/** What a command or a control gave, and the bus events that a presenter is to apply. */
export const ActionOutcome = z.looseObject({
  result: z.unknown(),
  events: z.array(z.looseObject({ type: z.string() })).default([]),
});
export type ActionOutcome = z.infer<typeof ActionOutcome>;

export const Panel = z.looseObject({ name: z.string(), title: z.string().nullish(), rows: z.unknown() });
export type Panel = z.infer<typeof Panel>;

export const StatusItem = z.looseObject({ name: z.string(), text: z.string(), order: z.number().nullish() });
export type StatusItem = z.infer<typeof StatusItem>;

/** An extension of the built-in engine and what it has registered. */
export const Extension = z.looseObject({
  name: z.string(),
  error: z.string().nullable(),
  records: z.array(
    z.looseObject({ kind: z.string(), name: z.string().nullable(), description: z.string().nullable() }),
  ),
});
export type Extension = z.infer<typeof Extension>;

/** A list's answer. */
export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.looseObject({ data: z.array(item), next_cursor: z.string().nullish() });
}
