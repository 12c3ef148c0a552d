import type { PiApi, SessionEntry } from './pi-api.ts';
import { READY_STATUS, RUN_FLAG, type Ready, type RunFate } from './protocol.ts';

/** Entry of a session: whose prompt the next one is. */
const RUN_ENTRY = 'tidemark.run';
/** How the last message of a turn ends that is over. */
const ENDS: ReadonlySet<unknown> = new Set(['stop', 'length']);

/**
 * Marks in the session whose prompts are whose, and says at the start that the extension is there, and what became of the run's last
 * turn while nobody watched it.
 */
export function markRuns(pi: PiApi): void {
  pi.on('session_start', (_event, ctx) => {
    const ready: Ready = {
      tools: pi.getActiveTools(),
      fate: fateOf(ctx.sessionManager.getBranch(), pi.getFlag(RUN_FLAG)),
    };
    ctx.ui.setStatus(READY_STATUS, JSON.stringify(ready));
  });
  pi.on('before_agent_start', () => pi.appendEntry(RUN_ENTRY, { runId: pi.getFlag(RUN_FLAG) }));
}

function fateOf(branch: readonly SessionEntry[], runId: unknown): RunFate {
  const mark = branch.findLastIndex(({ customType, data }) => {
    return customType === RUN_ENTRY && (data as { runId?: unknown } | null | undefined)?.runId === runId;
  });
  if (mark === -1) return 'unknown';
  const last = branch.slice(mark).findLast(({ type }) => type === 'message')?.message;
  return last?.role === 'assistant' && ENDS.has(last.stopReason) ? 'completed' : 'in_progress';
}
