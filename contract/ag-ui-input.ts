import { z } from 'zod';
import type { Decision } from './decision.ts';
import { FormValuesSchema } from './form.ts';
import { agUiInterruptId } from './encoders/ag-ui-interrupts.ts';
import { TidemarkError } from './errors.ts';
import { callIdsOf, fieldNamesOf } from './lifecycle-interrupts.ts';
import type { PendingInterrupt } from './lifecycle-projection-state.ts';

const ResumeEntry = z.looseObject({
  interruptId: z.string().min(1),
  status: z.enum(['resolved', 'cancelled']),
  payload: z.unknown().optional(),
});
type ResumeEntry = z.infer<typeof ResumeEntry>;

const InputMessage = z.looseObject({
  id: z.string().min(1).max(200),
  role: z.string(),
  content: z.unknown().optional(),
});
type InputMessage = z.infer<typeof InputMessage>;

/**
 * What an AG-UI 1.0 client posts. Only what Tidemark acts on is held to a shape; `state`, `tools` and `context` are the client's
 * own and are not used.
 */
export const RunAgentInput = z.looseObject({
  threadId: z.string().min(1).max(200),
  runId: z.string().regex(/^[\x21-\x7e]{1,150}$/, 'takes 1 to 150 visible ASCII characters'),
  messages: z.array(InputMessage),
  resume: z.array(ResumeEntry).nullish(),
  forwardedProps: z.unknown().optional(),
});
export type RunAgentInput = z.infer<typeof RunAgentInput>;

/** The user messages of a transcript that the thread does not know, as one input, and their ids. Null when there are none. */
export function newInput(
  messages: readonly InputMessage[],
  known: ReadonlySet<string>,
): { readonly input: string; readonly messageIds: string[] } | null {
  const fresh = messages.filter(({ id, role }) => role === 'user' && !known.has(id));
  if (fresh.length === 0) return null;
  return { input: fresh.map(textOf).join('\n\n'), messageIds: fresh.map(({ id }) => id) };
}

function textOf({ content, id }: InputMessage): string {
  if (typeof content === 'string') return content;
  const parts = z.array(z.looseObject({ type: z.literal('text'), text: z.string() })).safeParse(content);
  if (parts.success) return parts.data.map(({ text }) => text).join('\n');
  throw new TidemarkError(
    'invalid_request',
    `message ${id} holds more than text`,
    'Send text; files are not taken yet.',
    {
      facts: { field: 'messages', in: 'body' },
    },
  );
}

/**
 * The answers of a `resume` to what the run waits for, as the decisions that the interrupts take.
 *
 * **Contract:** each open interrupt is answered exactly once, or nothing is: an unknown id, a missing one and one given twice are
 * errors, and a payload that is no answer is never an approval.
 */
export function answersOf(
  resume: readonly ResumeEntry[],
  pending: readonly PendingInterrupt[],
): { readonly interruptId: string; readonly decision: Decision }[] {
  const asForm = pending.every(({ kind }) => kind === 'question');
  const callIds = callIdsOf(pending);
  const first = pending[0]?.interruptId ?? '';
  const entries = new Map<string, ResumeEntry>();
  for (const entry of resume) {
    if (entries.has(entry.interruptId)) throw notCovered(`${entry.interruptId} is answered twice`, pending);
    entries.set(entry.interruptId, entry);
  }
  const used = new Set<string>();
  const answers = pending.map((asked, i) => {
    const id = asForm ? first : agUiInterruptId(first, callIds[i] ?? '', pending.length);
    const entry = entries.get(id);
    if (entry === undefined) throw notCovered(`${id} is not answered`, pending);
    used.add(id);
    const fields = asForm ? fieldNamesOf(asked, pending.length === 1) : null;
    return { interruptId: asked.interruptId, decision: decisionOf(entry, asked, fields) };
  });
  const unknown = [...entries.keys()].find((id) => !used.has(id));
  if (unknown !== undefined) throw notCovered(`${unknown} is not open`, pending);
  return answers;
}

const ApprovalPayload = z.strictObject({
  approved: z.boolean(),
  editedArgs: z.record(z.string(), z.unknown()).optional(),
  message: z.string().max(10_000).optional(),
});

type FieldNames = ReturnType<typeof fieldNamesOf>;

/** `fields`: those of the form that answer a question; null where questions and approvals are asked together. */
function decisionOf(entry: ResumeEntry, { kind }: PendingInterrupt, fields: FieldNames | null): Decision {
  const { status, payload, interruptId } = entry;
  if (status === 'cancelled') return kind === 'question' ? { dismissed: true } : { decision: 'reject' };
  if (fields !== null) {
    const given = z.record(z.string(), z.unknown()).safeParse(payload).data ?? {};
    const wanted = fields.flatMap(({ field, key }) => (Object.hasOwn(given, field) ? [[key, given[field]]] : []));
    const values = FormValuesSchema.safeParse(Object.fromEntries(wanted));
    if (values.success) return { values: values.data };
    throw notAnAnswer(interruptId, `{${fields.map(({ field }) => `"${field}":"…"`).join(',')}}`);
  }
  const parsed = ApprovalPayload.safeParse(payload);
  if (!parsed.success) throw notAnAnswer(interruptId, '{"approved":true|false,"editedArgs"?:{…},"message"?:"…"}');
  const { approved, editedArgs, message } = parsed.data;
  if (kind === 'question') {
    if (!approved) return { dismissed: true };
    if (typeof editedArgs?.['answer'] === 'string') return { values: { answer: editedArgs['answer'] } };
    throw notAnAnswer(interruptId, '{"approved":true,"editedArgs":{"answer":"…"}}');
  }
  if (!approved) return { decision: 'reject', ...(message === undefined ? {} : { message }) };
  return editedArgs === undefined ? { decision: 'approve' } : { decision: 'edit', edited_args: editedArgs };
}

function notAnAnswer(id: string, form: string): TidemarkError {
  return new TidemarkError('invalid_request', `the payload for ${id.slice(0, 200)} is no answer`, `Send ${form}.`, {
    facts: { field: 'resume', in: 'body' },
  });
}

function notCovered(why: string, pending: readonly PendingInterrupt[]): TidemarkError {
  return new TidemarkError(
    'interrupts_not_covered',
    `resume must answer every open interrupt exactly once: ${why.slice(0, 300)}`,
    'Send one entry for each interrupt of the run’s last RUN_FINISHED.',
    { facts: { open_interrupts: pending.map(({ interruptId }) => interruptId) } },
  );
}
