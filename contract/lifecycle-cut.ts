import type { DeliveredEvent } from './canonical.ts';
import { NO_ENTRIES } from './lifecycle-chunked-map.ts';
import { failedEnding } from './lifecycle-closing.ts';
import { say, type Draft } from './lifecycle-draft.ts';
import { startLeg } from './lifecycle-pauses.ts';
import type { ProjectionState, StreamRefusal } from './lifecycle-projection-state.ts';
import { hashText } from './lifecycle-text-hash.ts';
import { noteEffects } from './lifecycle-tools.ts';
import type { LifecycleEvent } from './lifecycle.ts';

/** What links a stream that was cut to its line in the log: the same live, on replay and after a restart. */
export function correlationIdOf(runId: string, deliverySeq: number): string {
  return `ref_${hashText(`${runId}:${String(deliverySeq)}`)}`;
}

/**
 * Ends a run's streams at a row that would have made one illegal: what is open before the row is closed, and `run.error` says the rule.
 *
 * **Contract:** nothing of the row is shown, not even what came before the refused event, so an interrupt is never said without
 * its `run.interrupted`. A row that arrives while the run is paused ends the leg after the pause.
 */
export function cutStream(
  before: ProjectionState,
  refusal: StreamRefusal,
  { ts, deliverySeq }: DeliveredEvent,
): { state: ProjectionState; events: readonly LifecycleEvent[] } {
  const draft: Draft = { state: { ...before, ms: Math.max(before.ms, ts) }, events: [] };
  if (before.phase !== 'open') startLeg(draft);
  if (Object.keys(before.tools).length > 0) noteEffects(draft, 'possible');
  const correlationId = correlationIdOf(before.run.runId, deliverySeq);
  const { stream, effects } = draft.state;
  for (const said of failedEnding(stream, { ...refusal, correlationId }, effects)) say(draft, said);
  const nothing = { used: NO_ENTRIES, tools: {}, children: {}, pending: [], awaited: [], held: [] };
  return { state: { ...draft.state, ...nothing, phase: 'ended', refusal }, events: draft.events };
}
