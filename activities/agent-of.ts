import type { Agent } from '../contract/extensions/bus-event.ts';
import type { RunRow } from '../infra/postgres/run.ts';

/** A run as the extensions see it. */
export function agentOf({ run_id: runId, thread_id: threadId, model }: RunRow): Agent {
  return { runId, threadId, model };
}
