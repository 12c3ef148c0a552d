import { z } from 'zod';
import type { CanonicalBody } from '../../../contract/canonical.ts';
import { previewText } from '../../../contract/frames.ts';
import { PREVIEW_LIMIT_CHARS } from '../../../contract/platform-frames.ts';

const ENTRIES_LIMIT = 100;
/** Tools that keep a plan, by what agents call them: `write_todos`, `todo`, `updatePlan`. */
const PLAN_TOOL = /todo|plan/i;

const text = z.string().optional().catch(undefined);
const Entry = z.union([
  z.string().transform((content) => ({ id: undefined, content, status: '' })),
  z
    .object({ id: text, content: text, text, title: text, step: text, task: text, status: z.string().catch('') })
    .transform(({ id, status, ...words }) => {
      const content = words.content ?? words.text ?? words.title ?? words.step ?? words.task ?? '';
      return { id, content, status };
    }),
]);
const entries = z.array(Entry).optional().catch(undefined);
const PlanInput = z.object({ todos: entries, items: entries, plan: entries, steps: entries, entries });

type PlanEntry = CanonicalBody<'plan.updated'>['entries'][number];
const STATUSES: Readonly<Record<string, PlanEntry['status']>> = {
  in_progress: 'in_progress',
  inProgress: 'in_progress',
  completed: 'completed',
  done: 'completed',
  cancelled: 'cancelled',
};

/** The plan in the input of a tool that keeps one; null for any other tool, and for a plan without entries. */
export function planOfTool(toolName: string, input: unknown): CanonicalBody<'plan.updated'> | null {
  if (!PLAN_TOOL.test(toolName)) return null;
  const parsed = PlanInput.safeParse(input).data;
  const listed = parsed?.todos ?? parsed?.items ?? parsed?.plan ?? parsed?.steps ?? parsed?.entries ?? [];
  const said = listed.slice(0, ENTRIES_LIMIT).flatMap(({ id, content, status }, index): PlanEntry[] => {
    const shown = previewText(content.trim(), PREVIEW_LIMIT_CHARS);
    if (shown === '') return [];
    return [{ id: id ?? `${String(index)}-${shown}`, text: shown, status: statusOf(status) }];
  });
  return said.length === 0 ? null : { kind: 'plan.updated', entries: said };
}

function statusOf(status: string): PlanEntry['status'] {
  return Object.hasOwn(STATUSES, status) ? (STATUSES[status] ?? 'pending') : 'pending';
}
