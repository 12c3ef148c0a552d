import { hash } from 'node:crypto';
import { z } from 'zod';
import { Plan, type PlanEntry } from '../plan.ts';
import { executableTool, oneLine, succeeded, ToolFault } from './tool.ts';

const Status = z.enum(['pending', 'in_progress', 'completed', 'cancelled']);

export const updatePlan = executableTool({
  name: 'update_plan',
  label: 'Update plan',
  description:
    'Shows the user what you are going to do and how far you are. Give the whole plan each time; it replaces the one before. Use it for work of several steps.',
  schema: z.strictObject({
    entries: z
      .array(
        z.strictObject({
          text: z.string().min(1).max(200).describe('One step, in a short line.'),
          status: Status.describe('pending, in_progress, completed or cancelled.'),
        }),
      )
      .min(1)
      .max(50)
      .describe('All steps, in their order.'),
  }),
  approval: 'never',
  repeatable: true,
  parallelSafe: false,
  describe: ({ entries }) => `Plan: ${entries.map(({ text }) => text).join('; ')}`,
  execute({ entries }) {
    const plan = Plan.safeParse(withIds(entries));
    if (!plan.success) throw new ToolFault('the plan is too long; use fewer steps, or shorter ones');
    return Promise.resolve(succeeded(summaryOf(plan.data), { plan: plan.data }));
  },
});

/** An entry's id comes from its text, so that a step keeps it when its status or its place changes. */
function withIds(entries: readonly Omit<PlanEntry, 'id'>[]): PlanEntry[] {
  const seen = new Map<string, number>();
  return entries.map(({ text, status }, index) => {
    const line = oneLine(text);
    if (line === '') throw new ToolFault(`the text of step ${String(index + 1)} is empty; say what the step is`);
    const count = (seen.get(line) ?? 0) + 1;
    seen.set(line, count);
    const id = hash('sha256', line).slice(0, 12);
    return { id: count === 1 ? id : `${id}-${String(count)}`, text: line, status };
  });
}

function summaryOf(plan: readonly PlanEntry[]): string {
  const counts = Status.options.flatMap((status) => {
    const count = plan.filter((entry) => entry.status === status).length;
    return count === 0 ? [] : [`${String(count)} ${status.replace('_', ' ')}`];
  });
  return `the plan is shown: ${counts.join(', ')}`;
}
