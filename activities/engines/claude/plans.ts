import { z } from 'zod';
import type { CanonicalBody } from '../../../contract/canonical.ts';
import { previewText } from '../../../contract/frames.ts';
import { PREVIEW_LIMIT_CHARS } from '../../../contract/platform-frames.ts';
import { keyOf, without, withEntry, type ClaudeState, type PlanEntry, type Saying } from './translation-state.ts';

const ENTRIES_LIMIT = 100;
const STATUSES = ['pending', 'in_progress', 'completed', 'cancelled'] as const;

const id = z.union([z.string().min(1), z.number().transform(String)]);
const word = z.string().catch('');

/** The program's own records of the tools that keep its list of tasks. */
const Created = z.object({ task: z.object({ id, subject: z.string().min(1) }) });
const Updated = z.object({
  taskId: id,
  updatedFields: z.array(z.string()),
  statusChange: z.object({ to: z.string() }).optional(),
});
const Listed = z.object({ tasks: z.array(z.object({ id, subject: word, status: word })) });
const Rewritten = z.object({ newTodos: z.array(z.object({ content: word, status: word })) });

/** A call that is to give an entry another text: its result says only that it did. */
const Renaming = z.object({ taskId: id, subject: z.string().min(1) });

export function planCallStarted(
  state: ClaudeState,
  call: { readonly toolCallId: string; readonly input: unknown },
): ClaudeState {
  const renaming = Renaming.safeParse(call.input).data;
  if (renaming === undefined) return state;
  return { ...state, renamed: withEntry(state.renamed, call.toolCallId, renaming.subject) };
}

/** The plan as a tool's result leaves it: said whole where it has changed. */
export function planAfter(before: ClaudeState, toolCallId: string, result: unknown): Saying {
  const subject = before.renamed[keyOf(toolCallId)];
  const state = subject === undefined ? before : { ...before, renamed: without(before.renamed, toolCallId) };
  const plan = changed(state.plan, result, subject);
  if (plan === null) return { state, bodies: [] };
  const said: CanonicalBody[] = plan.length === 0 ? [] : [{ kind: 'plan.updated', entries: [...plan] }];
  return { state: { ...state, plan }, bodies: said };
}

function changed(
  plan: readonly PlanEntry[],
  result: unknown,
  subject: string | undefined,
): readonly PlanEntry[] | null {
  const created = Created.safeParse(result).data?.task;
  if (created !== undefined) {
    const { id: entryId, subject: text } = created;
    return [...plan.filter((entry) => entry.id !== entryId), entryOf(entryId, text, 'pending')].slice(-ENTRIES_LIMIT);
  }
  const updated = Updated.safeParse(result).data;
  if (updated !== undefined) return withUpdate(plan, updated, subject);
  const listed = Listed.safeParse(result).data?.tasks.map((task) => entryOf(task.id, task.subject, task.status));
  const todos = Rewritten.safeParse(result).data?.newTodos;
  const rewritten = todos?.map(({ content, status }, index) => entryOf(`${String(index)}-${content}`, content, status));
  const entries = listed ?? rewritten;
  return entries === undefined ? null : entries.filter(({ text }) => text !== '').slice(0, ENTRIES_LIMIT);
}

/** An update of a task that is not known is that of a session before: the list tells of it when it is asked for. */
function withUpdate(
  plan: readonly PlanEntry[],
  { taskId, updatedFields, statusChange }: z.infer<typeof Updated>,
  subject: string | undefined,
): readonly PlanEntry[] | null {
  const entry = plan.find((each) => each.id === taskId);
  if (entry === undefined) return null;
  if (statusChange?.to === 'deleted') return plan.filter((each) => each !== entry);
  const text = updatedFields.includes('subject') && subject !== undefined ? subject : entry.text;
  const next = entryOf(taskId, text, statusChange?.to ?? entry.status);
  return plan.map((each) => (each === entry ? next : each));
}

function entryOf(entryId: string, text: string, status: string): PlanEntry {
  return {
    id: entryId,
    text: previewText(text.trim(), PREVIEW_LIMIT_CHARS),
    status: STATUSES.find((known) => known === status) ?? 'pending',
  };
}
