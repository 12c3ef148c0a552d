import { z } from 'zod';
import type { DeliveredEvent } from '../../contract/canonical.ts';
import type { CompletionRecord } from '../../contract/sealed-translation.ts';

/** A completion record as it is delivered. */
export type DeliveredCompletion = CompletionRecord & { readonly deliverySeq: number };

/** An event of a thread's log, or the record that proves a run's events complete. */
export type Delivery =
  | { readonly type: 'event'; readonly deliverySeq: number; readonly event: DeliveredEvent }
  | { readonly type: 'complete'; readonly deliverySeq: number; readonly complete: DeliveredCompletion };

/** What following a thread gives. */
export type ThreadItem =
  | Delivery
  /** Once: what was stored when the thread was opened has been given. */
  | { readonly type: 'caught-up'; readonly head: number }
  /** What followed the cursor is not there any more; it goes on with what is (`onCursorLost: 'oldest'`). */
  | { readonly type: 'cursor-lost'; readonly after: number; readonly code: string }
  /** The thread was erased: the last item. */
  | { readonly type: 'gone' };

/**
 * The envelope alone is checked: of kinds and fields a newer server may know more, and what it says is passed on as it is.
 */
const Envelope = z.looseObject({
  schemaVersion: z.literal(1),
  eventId: z.string().min(1),
  kind: z.string().min(1),
  runId: z.string().min(1),
  threadId: z.string().min(1),
  seq: z.int().nonnegative(),
  ts: z.number(),
  identity: z.looseObject({ provider: z.string() }),
  deliverySeq: z.int().positive(),
  revision: z.int().nonnegative(),
  retracted: z.literal(true).optional(),
});
const Completion = z.looseObject({
  runId: z.string().min(1),
  digest: z.string(),
  deliverySeq: z.int().positive(),
});

/** @throws Error that says what is wrong with it. */
export function readEvent(said: unknown): Delivery {
  const event = checked(Envelope, said) as unknown as DeliveredEvent;
  return { type: 'event', deliverySeq: event.deliverySeq, event };
}

/** @throws Error that says what is wrong with it. */
export function readCompletion(said: unknown): Delivery {
  const complete = checked(Completion, said) as unknown as DeliveredCompletion;
  return { type: 'complete', deliverySeq: complete.deliverySeq, complete };
}

function checked<Schema extends z.ZodType>(schema: Schema, said: unknown): z.output<Schema> {
  const parsed = schema.safeParse(said);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new Error(`a delivery is malformed: ${issue?.path.map(String).join('.') ?? ''} ${issue?.message ?? ''}`);
}
