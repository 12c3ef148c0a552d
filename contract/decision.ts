import { z } from 'zod';

/**
 * How a person answers an interrupt. The same shape arrives by REST and in the Temporal signal `resolveInterrupt`.
 * An approval takes approve, edit or reject; a question takes values or a dismissal. What is not exactly one of these is an
 * error, never an approval (source facts B.5).
 */
export const Decision = z.union([
  z.strictObject({ decision: z.literal('approve') }),
  z.strictObject({ decision: z.literal('edit'), edited_args: z.record(z.string(), z.unknown()) }),
  z.strictObject({ decision: z.literal('reject'), message: z.string().max(10_000).optional() }),
  z.strictObject({ values: z.strictObject({ answer: z.string().max(100_000) }) }),
  z.strictObject({ dismissed: z.literal(true) }),
]);
export type Decision = z.infer<typeof Decision>;

export const DECISION_FORMS =
  '{"decision":"approve"}, {"decision":"edit","edited_args":{…}}, {"decision":"reject","message":"…"} for an approval; ' +
  '{"values":{"answer":"…"}} or {"dismissed":true} for a question';

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
  return ({ approve: 'approved', edit: 'edited', reject: 'rejected' } as const)[decision.decision];
}
