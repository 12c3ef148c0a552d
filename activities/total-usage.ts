import type { Message, Usage } from '../contract/agent-messages.ts';

/** What the model calls of a run have used together; undefined while none reported anything. */
export function totalUsage(messages: readonly Message[]): Usage | undefined {
  const reported = messages.flatMap((message) => (message.role === 'assistant' ? (message.usage ?? []) : []));
  if (reported.length === 0) return undefined;
  const total: Record<string, number> = {};
  for (const usage of reported) {
    for (const [counter, value] of Object.entries(usage)) total[counter] = (total[counter] ?? 0) + (value ?? 0);
  }
  return total;
}
