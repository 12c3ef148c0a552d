import { z } from 'zod';
import { FormValuesSchema } from './form.ts';

/**
 * How a person answers an interrupt. The same shape arrives by REST and in the Temporal signal `resolveInterrupt`.
 * An approval takes approve, edit or reject; a question takes values or a dismissal. What is not exactly one of these is an
 * error, never an approval (source facts B.5).
 */
export const Decision = z.union([
  z.strictObject({ decision: z.literal('approve') }),
  /** Approve, and let the engine do the like without asking for the rest of its session; where the interrupt offers it. */
  z.strictObject({ decision: z.literal('always') }),
  z.strictObject({ decision: z.literal('edit'), edited_args: z.record(z.string(), z.unknown()) }),
  z.strictObject({ decision: z.literal('reject'), message: z.string().max(10_000).optional() }),
  z.strictObject({ values: FormValuesSchema }),
  z.strictObject({ dismissed: z.literal(true) }),
]);
export type Decision = z.infer<typeof Decision>;

export const DECISION_FORMS =
  '{"decision":"approve"}, {"decision":"edit","edited_args":{…}}, {"decision":"reject","message":"…"} for an approval; ' +
  '{"values":{"answer":"…"}} or {"dismissed":true} for a question';

/** The option of an approval that a decision takes; null for a decision about a question. */
export function optionOf(decision: Decision): string | null {
  return 'decision' in decision ? decision.decision : null;
}

export type InterruptKind = 'approval' | 'question';
export type InterruptStatus =
  | 'pending'
  | 'approved'
  | 'edited'
  | 'rejected'
  | 'answered'
  | 'dismissed'
  | 'expired'
  | 'cancelled';

/** The status that a decision gives to an interrupt of a kind; null where the decision is not one for that kind. */
export function statusAfter(kind: InterruptKind, decision: Decision): InterruptStatus | null {
  if (kind === 'question') {
    if ('values' in decision) return 'answered';
    return 'dismissed' in decision ? 'dismissed' : null;
  }
  if (!('decision' in decision)) return null;
  return ({ approve: 'approved', always: 'approved', edit: 'edited', reject: 'rejected' } as const)[decision.decision];
}
