import type { CanonicalBody } from '../../../contract/canonical.ts';
import { previewText } from '../../../contract/frames.ts';
import { entryOf, withEntry } from '../bounded-table.ts';
import { faultText } from '../fault-text.ts';
import type { Part, Session } from './opencode-schema.ts';
import { faultOf } from './tool-facts.ts';
import type { z } from 'zod';
import { NO_USAGE, TABLE_LIMITS, type Child, type OpencodeState } from './translation-state.ts';

const SHOWN_CHARS = 2_000;
/** The tool by which a sub-agent is launched. */
const LAUNCHER = 'task';

export interface Told {
  readonly state: OpencodeState;
  readonly bodies: CanonicalBody[];
}

/** A session was begun in another one: its launch tells of it in a moment. */
export function childBegun(state: OpencodeState, session: z.infer<typeof Session>, parentId: string): OpencodeState {
  const { id, title, agent } = session;
  return entryOf(state.children, id) === undefined
    ? withChild(state, id, newChild(parentId, title, agent ?? ''))
    : state;
}

/** A sub-agent speaks: it is said now, if its launch has not told of it. */
export function childSeen(state: OpencodeState, childId: string): Told {
  const child = entryOf(state.children, childId);
  return child?.phase === 'held' ? begin(state, childId, { child }) : { state, bodies: [] };
}

/** The call of a tool that launches a sub-agent names its session: of a session that was taken up again it is the first to. */
export function childLaunched(state: OpencodeState, part: Part): Told {
  const childId = part.state.metadata?.sessionId;
  if (part.tool !== LAUNCHER || childId == null || childId === state.sessionId || part.state.status !== 'running') {
    return { state, bodies: [] };
  }
  const child = entryOf(state.children, childId) ?? newChild(part.sessionID, part.state.title, '');
  return child.phase === 'held' ? begin(state, childId, { child, launch: part }) : { state, bodies: [] };
}

/** A sub-agent works again that had ended: it is launched anew. */
export function childBusy(state: OpencodeState, childId: string): OpencodeState {
  const child = entryOf(state.children, childId);
  return child?.phase === 'done' ? withChild(state, childId, { ...child, phase: 'held', fault: null }) : state;
}

export function childFailed(state: OpencodeState, childId: string, message: string): OpencodeState {
  const child = entryOf(state.children, childId);
  return child === undefined ? state : withChild(state, childId, { ...child, fault: faultText(message) });
}

/** A sub-agent is over: its last message is its result. */
export function childEnded(state: OpencodeState, childId: string): Told {
  const child = entryOf(state.children, childId);
  if (child === undefined || child.phase === 'done') return { state, bodies: [] };
  const seen = childSeen(state, childId);
  const { lastText, fault } = child;
  const result = fault ?? lastText;
  const ended: CanonicalBody = {
    kind: 'child.completed',
    childId,
    status: fault === null ? 'ok' : 'error',
    ...(result === '' ? {} : { result }),
  };
  return { state: withChild(seen.state, childId, { ...child, phase: 'done' }), bodies: [...seen.bodies, ended] };
}

/** With the call that launched it a sub-agent is over, whatever it said. */
export function childEndedByTool(state: OpencodeState, part: Part): Told {
  const childId = part.state.metadata?.sessionId;
  if (part.tool !== LAUNCHER || childId == null) return { state, bodies: [] };
  const fault = faultOf(part);
  return childEnded(fault === null ? state : childFailed(state, childId, fault), childId);
}

export function withChild(state: OpencodeState, childId: string, child: Child): OpencodeState {
  return { ...state, children: withEntry(state.children, childId, child, TABLE_LIMITS.children) };
}

function newChild(parentId: string, title: string, role: string): Child {
  return { parentId, title, role, phase: 'held', lastText: '', fault: null, usage: NO_USAGE };
}

function begin(state: OpencodeState, childId: string, { child, launch }: { child: Child; launch?: Part }): Told {
  const { input, metadata } = launch?.state ?? {};
  const prompt = textIn(input, 'prompt');
  const role = child.role === '' ? textIn(input, 'subagent_type') : child.role;
  const model = metadata?.model == null ? '' : modelName(metadata.model);
  const about = {
    ...(prompt === '' ? {} : { prompt }),
    ...(role === '' ? {} : { role }),
    ...(model === '' ? {} : { model }),
  };
  const title = textIn(input, 'description') || child.title;
  const started: CanonicalBody = {
    kind: 'child.started',
    childId,
    ...(child.parentId === state.sessionId ? {} : { parentChildId: child.parentId }),
    ...(launch === undefined ? {} : { launchToolCallId: launch.id }),
    ...(title === '' ? {} : { title: previewText(title, SHOWN_CHARS) }),
    ...(Object.keys(about).length === 0 ? {} : { state: about }),
  };
  return { state: withChild(state, childId, { ...child, phase: 'open' }), bodies: [started] };
}

export function modelName({ providerID, modelID }: { providerID: string; modelID: string }): string {
  return [providerID, modelID].filter((part) => part !== '').join('/');
}

function textIn(input: Readonly<Record<string, unknown>> | undefined, field: string): string {
  const value = input?.[field];
  return typeof value === 'string' ? previewText(value, SHOWN_CHARS) : '';
}
