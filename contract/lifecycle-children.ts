import type { CanonicalBody, DeliveredEvent } from './canonical.ts';
import { orphanBlocks } from './lifecycle-blocks.ts';
import { lookUp } from './lifecycle-chunked-map.ts';
import { childKey, childOf, isActiveIn, markUsed, markWithdrawn, say, type Draft } from './lifecycle-draft.ts';
import * as limit from './lifecycle-limits.ts';
import type { ProjectedChild, ProjectedTool } from './lifecycle-projection-state.ts';
import { toolKey, without } from './lifecycle-state.ts';
import { abandonTool, announce, beginTool, endTool } from './lifecycle-tools.ts';
import { argumentsOf, lifecycleId, lifecycleName } from './lifecycle-values.ts';
import type { LifecycleData } from './lifecycle.ts';

/** Sub-agents as namespaces, from `child.*`. A namespace is named by the call that delegated to it. */
type Started = CanonicalBody<'child.started'>;
type Outcome = LifecycleData<'namespace.exited'>['outcome'];

export interface Speaker {
  readonly namespace: readonly string[];
  readonly agentId: string;
}

/** Who says an event: the root or a sub-agent. Null: a sub-agent that has left, whose late words are dropped. */
export function speakerOf(draft: Draft, event: DeliveredEvent): Speaker | null {
  const { nativeSessionId, nativeParentSessionId } = event.identity;
  const isOfChild = nativeSessionId !== undefined && nativeParentSessionId !== undefined;
  if (isOfChild && childOf(draft, event) === undefined) {
    if (lookUp(draft.state.used, childKey(nativeSessionId))?.isWithdrawn === false) return null;
    enterChild(draft, { kind: 'child.started', childId: nativeSessionId, parentChildId: nativeParentSessionId }, []);
  }
  const child = childOf(draft, event);
  if (child === undefined) return { namespace: [], agentId: lifecycleId(draft.state.run.engine) };
  return { namespace: child.path, agentId: child.id };
}

/** Enters the namespace of a sub-agent, in that of its parent. `home` is where the event that started it was said. */
export function enterChild(draft: Draft, started: Started, home: readonly string[]): void {
  const { childId, parentChildId, launchToolCallId, title } = started;
  const { children, tools } = draft.state;
  const key = childKey(childId);
  if (children[key] !== undefined) return;
  const launchKey = launchToolCallId === undefined ? null : toolKey(launchToolCallId);
  const launch = launchKey === null ? undefined : tools[launchKey];
  const parent = parentChildId === undefined ? undefined : children[childKey(parentChildId)];
  const parentPath = parent?.path ?? launch?.namespace ?? home;
  const isLaunchedThere = launch !== undefined && isSame(launch.namespace, parentPath);
  const child: ProjectedChild = {
    id: lifecycleId(childId),
    name: lifecycleName(title, 'sub-agent'),
    path: parentPath,
    hasNamespace: false,
    call: isLaunchedThere && launchKey !== null ? launchKey : ownCallKey(childId),
  };
  put(draft, key, child);
  markUsed(draft, key, 1);
  if (parentPath.length >= limit.NAMESPACE_DEPTH_LIMIT) return;
  const call = openCall(draft, child, childId);
  if (call === undefined) return;
  const byCall = [...parentPath, call.id];
  enter(draft, key, {
    ...child,
    path: isActiveIn(draft, byCall) ? [...parentPath, child.id] : byCall,
    hasNamespace: true,
  });
}

/** Enters again, in a new leg, the namespaces of the sub-agents that the pause left at work, and their open calls. */
export function reenterChildren(draft: Draft): void {
  for (const [key, child] of Object.entries(draft.state.children)) {
    if (!child.hasNamespace) continue;
    const childId = key.slice(childKey('').length);
    const isCallOpen = draft.state.tools[child.call] !== undefined;
    const again = isCallOpen ? child : { ...child, call: ownCallKey(childId) };
    if (!isCallOpen && openCall(draft, { ...again, path: child.path.slice(0, -1) }, childId) === undefined) continue;
    enter(draft, key, again);
    announceTools(draft, child.path);
  }
}

/** `tool.started` for each open call of a namespace, at the start of a leg. */
export function announceTools(draft: Draft, namespace: readonly string[]): void {
  for (const tool of Object.values(draft.state.tools)) if (isSame(tool.namespace, namespace)) announce(draft, tool);
}

export function leaveChild(draft: Draft, childId: string, outcome: Outcome, result: string | undefined): void {
  const key = childKey(childId);
  const child = draft.state.children[key];
  if (child === undefined) return;
  if (child.hasNamespace) {
    for (const [otherKey, other] of Object.entries(draft.state.children)) {
      const isInside = otherKey !== key && isSame(other.path.slice(0, child.path.length), child.path);
      if (isInside) leaveChild(draft, otherKey.slice(childKey('').length), outcome, undefined);
    }
    orphanBlocks(draft, ({ namespace }) => isSame(namespace, child.path));
    for (const [tool, { namespace }] of Object.entries(draft.state.tools)) {
      if (isSame(namespace, child.path)) abandonTool(draft, tool);
    }
    const data = { agent_id: child.id, parent_tool_call_id: callIdOf(draft, child), outcome };
    say(draft, { namespace: child.path, body: { type: 'namespace.exited', data } });
  }
  if (child.call === ownCallKey(childId)) {
    const end = outcome === 'success' ? { status: 'ok', preview: result ?? '' } : { status: 'error', error: result };
    endTool(draft, child.call, end as Parameters<typeof endTool>[2]);
  }
  draft.state = { ...draft.state, children: without(draft.state.children, key) };
}

/** The log takes back that a sub-agent was started; it may be started again. */
export function withdrawChild(draft: Draft, childId: string): void {
  leaveChild(draft, childId, 'error', undefined);
  markWithdrawn(draft, childKey(childId));
}

/** The call that delegates: the engine's, or one of our own where it named none that is open in the parent. */
function openCall(draft: Draft, child: ProjectedChild, childId: string): ProjectedTool | undefined {
  if (draft.state.tools[child.call] === undefined) {
    const call = { name: 'delegate', args: argumentsOf({ agent: child.name }), namespace: child.path };
    beginTool(draft, child.call, `delegate.${childId}`, call);
  }
  return draft.state.tools[child.call];
}

function enter(draft: Draft, key: string, child: ProjectedChild): void {
  const call = draft.state.tools[child.call];
  if (call === undefined) return;
  const data = { agent_id: child.id, agent_name: child.name, parent_tool_call_id: call.id };
  if (say(draft, { namespace: child.path, body: { type: 'namespace.entered', data } })) put(draft, key, child);
}

function callIdOf(draft: Draft, { path, id }: ProjectedChild): string {
  const open = Object.values(draft.state.stream.namespaces).find((namespace) => isSame(namespace.path, path));
  return open?.parentToolCallId ?? id;
}

function ownCallKey(childId: string): string {
  return `delegation:${childId}`;
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((element, i) => element === b[i]);
}

function put(draft: Draft, key: string, child: ProjectedChild): void {
  draft.state = { ...draft.state, children: { ...draft.state.children, [key]: child } };
}
