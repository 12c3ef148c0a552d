import type { CanonicalBody } from './canonical.ts';
import { closeBlocks } from './lifecycle-blocks.ts';
import { NO_ENTRIES } from './lifecycle-chunked-map.ts';
import { closingEvents } from './lifecycle-closing.ts';
import { root, say, type Draft } from './lifecycle-draft.ts';
import { noteEffects } from './lifecycle-tools.ts';
import { lifecycleCode, lifecycleMessage, lifecycleName } from './lifecycle-values.ts';
import type { LifecycleBody, LifecycleData } from './lifecycle.ts';

/** Stop reasons that say that somebody ended the run. */
const CANCELLED: ReadonlyMap<string | undefined, LifecycleData<'run.cancelled'>['reason']> = new Map([
  ['cancelled', 'client_request'],
  ['disconnect', 'disconnect'],
  ['shutdown', 'shutdown'],
  ['deadline', 'deadline'],
]);

/** Errors after which a new run of the same input may well succeed. */
const RETRYABLE: ReadonlySet<string> = new Set([
  'provider_rate_limited',
  'provider_unavailable',
  'provider_stream_broken',
  'provider_stalled',
  'unavailable',
  'worker_lost',
]);

/** Ends the run: closes what is open and says the one terminal (rules 3, 9, 13 and 15). */
export function endRun(draft: Draft, { stopReason }: CanonicalBody<'turn.completed'>): void {
  if (Object.keys(draft.state.tools).length > 0) noteEffects(draft, 'possible');
  closeBlocks(draft);
  const terminal = terminalOf(draft, stopReason);
  const outcome = OUTCOME[terminal.type];
  for (const said of closingEvents(draft.state.stream, outcome)) say(draft, said);
  say(draft, root(terminal));
  draft.state = { ...draft.state, phase: 'ended', used: NO_ENTRIES, tools: {}, children: {}, pending: [], awaited: [] };
}

type Terminal = LifecycleBody<'run.finished' | 'run.cancelled' | 'run.error'>;

const OUTCOME = { 'run.finished': 'success', 'run.cancelled': 'cancelled', 'run.error': 'error' } as const;

function terminalOf({ state }: Draft, stopReason: string | undefined): Terminal {
  const { fault, committed, effects: side_effect_status } = state;
  const reason = CANCELLED.get(stopReason);
  if (reason !== undefined) return { type: 'run.cancelled', data: { reason, side_effect_status } };
  if (fault !== null || stopReason === 'error') {
    const code = lifecycleCode(fault?.code, 'internal');
    return errorOf(code, fault?.message ?? 'the run failed', side_effect_status);
  }
  if (committed === null) {
    const message = 'the session state was not committed: what this run did may not be in the history of the next';
    return errorOf('thread_durability_uncertain', message, side_effect_status);
  }
  const { revision: durable_revision, headRef: head_ref } = committed;
  const thread_state = { durability: 'committed', durable_revision, head_ref } as const;
  const stop_reason = lifecycleName(stopReason, 'end_turn');
  return { type: 'run.finished', data: { outcome: 'success', stop_reason, thread_state } };
}

function errorOf(
  code: string,
  message: string,
  side_effect_status: LifecycleData<'run.error'>['side_effect_status'],
): Terminal {
  const data = {
    code,
    message: lifecycleMessage(message, 'the run failed'),
    retryable: RETRYABLE.has(code),
    retry_after_seconds: null,
    side_effect_status,
  };
  return { type: 'run.error', data };
}
