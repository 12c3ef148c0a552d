import { z } from 'zod';
import { utf8Bytes } from '../../../contract/frames.ts';

/** With a preview beside it, a plan of this size is still under the frame limit. */
const PLAN_LIMIT_BYTES = 16 * 1024;

const PlanEntry = z.object({
  id: z.string().min(1),
  text: z.string().min(1),
  status: z.enum(['pending', 'in_progress', 'completed', 'cancelled']),
});
export type PlanEntry = Readonly<z.infer<typeof PlanEntry>>;

/** The whole plan of a run: the `details` of the result of a tool that keeps one, and a `plan.updated`. */
export const Plan = z
  .array(PlanEntry)
  .min(1)
  .refine((entries) => utf8Bytes(JSON.stringify(entries)) <= PLAN_LIMIT_BYTES, 'is over 16 KiB');

export const PlanChange = z.object({ plan: Plan });
