import type { LifecycleEventOf } from '../lifecycle.ts';
import type { LegContext } from './lifecycle-encoding.ts';
import { drop, find, put, type Table } from './lifecycle-table.ts';

/** What an existing client must know of sub-agents: it sees a namespace as delegating calls, and an agent as its name. */
export interface Speakers {
  /** The delegating call of each active namespace, by path. */
  readonly calls: Table<string>;
  /** Names of sub-agents by agent id. */
  readonly names: Table<string>;
}

export const NO_SPEAKERS: Speakers = { calls: {}, names: {} };

export function enter({ calls, names }: Speakers, event: LifecycleEventOf<'namespace.entered'>): Speakers {
  const { agent_id, agent_name, parent_tool_call_id } = event.data;
  return {
    calls: put(calls, pathKey(event.namespace), parent_tool_call_id),
    names: put(names, agent_id, agent_name),
  };
}

export function leave({ calls, names }: Speakers, event: LifecycleEventOf<'namespace.exited'>): Speakers {
  return { calls: drop(calls, pathKey(event.namespace)), names };
}

/** The path as delegating calls; an element that was never entered stays as it is. */
export function callPath({ calls }: Speakers, namespace: readonly string[]): readonly string[] {
  return namespace.map((element, i) => find(calls, pathKey(namespace.slice(0, i + 1))) ?? element);
}

export function nameOf({ names }: Speakers, agentId: string, { agentName }: LegContext): string {
  return find(names, agentId) ?? agentName;
}

/** One string for a path; no two paths share it. */
export function pathKey(namespace: readonly string[]): string {
  return JSON.stringify(namespace);
}
