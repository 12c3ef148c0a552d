import type { LifecycleEvent, LifecycleEventOf } from '../lifecycle.ts';
import type { AgUiBody } from './ag-ui-events.ts';
import { pathKey, say, type AgUiSaid, type AgUiState, type Subagent } from './ag-ui-state.ts';
import { drop, find, put } from './lifecycle-table.ts';

export function enterSubagent(state: AgUiState, event: LifecycleEventOf<'namespace.entered'>): AgUiSaid {
  const { namespace, data } = event;
  const parent = find(state.subagents, pathKey(namespace.slice(0, -1)));
  const subagentRunId = unusedId(state, namespace.at(-1) ?? data.agent_id);
  const start: Subagent['start'] = {
    type: 'SUBAGENT_STARTED',
    subagentRunId,
    name: data.agent_name,
    ...(parent === undefined ? {} : { parentSubagentRunId: parent.start.subagentRunId }),
    parentToolCallId: data.parent_tool_call_id,
  };
  const subagent: Subagent = { start, agentId: data.agent_id, isActive: true };
  const subagents = put(state.subagents, pathKey(namespace), subagent);
  return say({ ...state, subagents, subagentIds: put(state.subagentIds, subagentRunId, true) }, start);
}

export function exitSubagent(state: AgUiState, event: LifecycleEventOf<'namespace.exited'>): AgUiSaid {
  const key = pathKey(event.namespace);
  const subagent = find(state.subagents, key);
  if (subagent === undefined || !subagent.isActive) return say(state);
  const subagents = put(state.subagents, key, { ...subagent, isActive: false });
  return say({ ...state, subagents, recent: drop(state.recent, key) }, ended(state, subagent, event.data.outcome));
}

/** Before the run ends: AG-UI lets no sub-agent outlive its run. */
export function endSubagents(state: AgUiState, event: LifecycleEvent): AgUiBody[] {
  const open = Object.values(state.subagents).filter(({ isActive }) => isActive);
  return open.toReversed().map((subagent) => ended(state, subagent, OUTCOME_AT[event.type] ?? 'error'));
}

type Outcome = LifecycleEventOf<'namespace.exited'>['data']['outcome'];

const OUTCOME_AT: Partial<Record<LifecycleEvent['type'], Outcome>> = {
  'run.finished': 'success',
  'run.interrupted': 'interrupted',
  'run.cancelled': 'cancelled',
};

function ended({ interrupts }: AgUiState, { start: { subagentRunId } }: Subagent, outcome: Outcome): AgUiBody {
  switch (outcome) {
    case 'success':
      return { type: 'SUBAGENT_FINISHED', subagentRunId, outcome: { type: 'success' } };
    case 'interrupted':
      return { type: 'SUBAGENT_FINISHED', subagentRunId, outcome: suspended(interrupts, subagentRunId) };
    case 'cancelled':
      return { type: 'SUBAGENT_ERROR', subagentRunId, message: 'The sub-agent was cancelled.', code: 'cancelled' };
    case 'error':
      return { type: 'SUBAGENT_ERROR', subagentRunId, message: 'The sub-agent failed.', code: 'error' };
  }
}

/** Names the interrupts that the sub-agent raised itself; one that waits for its own sub-agent has none. */
function suspended(interrupts: AgUiState['interrupts'], subagentRunId: string) {
  const interruptIds = interrupts.filter((interrupt) => interrupt.subagentRunId === subagentRunId).map(({ id }) => id);
  return interruptIds.length === 0 ? ({ type: 'suspended' } as const) : ({ type: 'suspended', interruptIds } as const);
}

/** An id names one invocation and is never used again in a run: a namespace that is entered twice has two. */
function unusedId({ subagentIds }: AgUiState, wanted: string): string {
  let id = wanted;
  for (let n = 2; find(subagentIds, id) === true; n++) id = `${wanted}#${String(n)}`;
  return id;
}
