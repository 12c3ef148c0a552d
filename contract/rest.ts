import { z } from 'zod';
import { ENCODINGS } from './encodings.ts';
import { utf8Bytes } from './frames.ts';
import { ThreadId } from './ids.ts';

/** An input's size, at most, in bytes of UTF-8. */
export const INPUT_LIMIT_BYTES = 1024 * 1024;
const METADATA_LIMIT_BYTES = 16 * 1024;

/** The document database column that holds these takes no NUL, at any depth. */
const withoutNul = (value: unknown): boolean => !JSON.stringify(value).includes('\\u0000');

const Metadata = z
  .record(z.string().max(100), z.unknown())
  .refine((value) => utf8Bytes(JSON.stringify(value)) <= METADATA_LIMIT_BYTES, 'is over 16 KiB of JSON')
  .refine(withoutNul, 'may hold no NUL character');

/**
 * What happens while another run has the turn: wait behind it, be refused with 409, become input of it (before its next model
 * call, or at its natural stop), or cancel it and all that waits.
 */
const MULTITASK = ['enqueue', 'reject', 'steer', 'follow_up', 'interrupt'] as const;
export type Multitask = (typeof MULTITASK)[number];

const isInput = (multitask: Multitask | undefined): boolean => multitask === 'steer' || multitask === 'follow_up';
const Guidance = z
  .string()
  .min(1, 'may not be empty')
  .max(10_000)
  .refine(withoutNul, 'may hold no NUL character')
  .refine((text) => text.isWellFormed(), 'must be well-formed Unicode');

const ToolNames = z.array(z.string().min(1).max(200)).max(500);

const RunFields = z.strictObject({
  input: z.string().min(1, 'may not be empty'),
  engine: z.string().min(1).max(100).optional(),
  /** `provider/model` */
  model: z.string().min(1).max(200).optional(),
  parent_run_id: z.string().max(100).optional(),
  multitask: z.enum(MULTITASK).optional(),
  metadata: Metadata.optional(),
  settings: z
    .strictObject({
      max_steps: z.int().min(1).max(100_000).optional(),
      interrupt_timeout_seconds: z.int().min(1).max(31_536_000).optional(),
      /** The only tools that the run may use; left out, all. */
      allowed_tools: ToolNames.optional(),
      /** Tools that the run may not use. */
      denied_tools: ToolNames.optional(),
      system_prompt: z.string().max(100_000).refine(withoutNul, 'may hold no NUL character').optional(),
      /** The model's context, where it is to be taken for another size than is known of it. */
      context_tokens: z.int().min(1_000).max(100_000_000).optional(),
      /** The run only compacts the conversation; \`guidance\` says what its summary must keep. */
      compact: z.strictObject({ guidance: Guidance.optional() }).optional(),
    })
    .optional(),
});

/**
 * The body of `POST /v1/runs` and `POST /v1/threads/{id}/runs`. Unknown fields are refused. What is to become input of the run that
 * has the turn cannot go on from another.
 */
export const CreateRun = RunFields.refine(
  ({ multitask, parent_run_id: parent }) => parent === undefined || !isInput(multitask),
  {
    path: ['parent_run_id'],
    message: 'does not go with "steer" or "follow_up", which go on from the run that has the turn',
  },
);
export type CreateRun = z.infer<typeof CreateRun>;

export const IdempotencyKey = z.string().regex(/^[\x21-\x7e]{1,200}$/, 'takes 1 to 200 visible ASCII characters');

const wholeNumberText = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, `takes a whole number from ${String(min)} to ${String(max)}`)
    .transform(Number)
    .pipe(z.number().min(min).max(max));
const wholeNumber = (min: number, max: number, fallback: number) => wholeNumberText(min, max).default(fallback);

export const Page = { limit: wholeNumber(1, 200, 50), cursor: z.string().max(100).optional() };
export const RunQuery = z.strictObject({ wait: wholeNumber(0, 60, 0) });
export const RunListQuery = z.strictObject(Page);
export const InputListQuery = z.strictObject(Page);
export const FrameListQuery = z.strictObject(Page);
export const ArtifactListQuery = z.strictObject(Page);
/** `GET /v1/outbox`: canonicalization intents that were given up. */
export const DeadListQuery = z.strictObject({ ...Page, state: z.literal('dead').default('dead') });
export const InterruptListQuery = z.strictObject({
  ...Page,
  status: z.literal('open').default('open'),
  thread_id: z.string().max(100).optional(),
});
/** The body of `POST /v1/threads` and `PATCH /v1/threads/{id}`: `title` null takes it away. */
export const ThreadBody = z.strictObject({
  title: z.string().min(1).max(500).refine(withoutNul, 'may hold no NUL character').nullable().optional(),
  metadata: Metadata.optional(),
});
export const ThreadListQuery = z.strictObject({
  ...Page,
  cursor: ThreadId.optional(),
  search: z.string().min(1).max(500).refine(withoutNul, 'may hold no NUL character').optional(),
});
/** `DELETE /v1/threads/{id}`: with `cancel=1` the thread's live runs are cancelled first. */
export const EraseQuery = z.strictObject({ cancel: z.enum(['0', '1']).default('0') });
/** `GET /v1/threads/{id}/session` */
export const SessionQuery = z.strictObject({ engine: z.string().max(100).optional() });
/** `GET /v1/threads/{id}/session.jsonl`: the line that leads to a run, instead of to the newest. */
export const SessionFileQuery = z.strictObject({ run_id: z.string().max(100).optional() });
/** `POST /v1/threads/import`: with `repair=1` a file with faults is repaired first. */
export const ImportQuery = z.strictObject({ repair: z.enum(['0', '1']).default('0') });
export const NoQuery = z.strictObject({});

/** The query of `GET /v1/runs/{id}/events`; `after` is read with the header `Last-Event-ID`. */
export const RunEventsQuery = z.strictObject({
  encoding: z.enum(ENCODINGS).default('canonical'),
  leg: wholeNumberText(1, 100_000).optional(),
  after: z.string().optional(),
});

/** The query of a run's creation: `stream` answers with the run's stream instead of the run. */
export const CreateRunQuery = z.strictObject({ stream: z.enum(ENCODINGS).optional() });

/** The body of `POST /v1/runs/{id}/interrupts/resolve`: decisions for several interrupts of a run, taken together or not at all. */
export const ResolveMany = z.strictObject({
  resolutions: z
    .array(z.looseObject({ interrupt_id: z.string().max(100) }))
    .min(1)
    .max(100),
});

/** `GET /v1/introspect` */
export const ThreadQuery = z.strictObject({ thread_id: z.string().max(100).optional() });
/** `POST /v1/threads/{id}/commands/{name}`: what stands behind the command's name. */
export const CommandCall = z.strictObject({ args: z.string().max(100_000).optional() });
/** `POST /v1/auth-backends/{name}/login` */
export const LoginCall = z.strictObject({ options: z.record(z.string(), z.unknown()).optional() });
export const NoBody = z.strictObject({});
