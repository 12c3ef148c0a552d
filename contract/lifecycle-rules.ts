import * as limit from './lifecycle-limits.ts';
import type { LifecycleData, LifecycleEventOf, LifecycleType, TerminalType } from './lifecycle.ts';
import { lookUp, withEntry } from './lifecycle-chunked-map.ts';
import {
  blockKey,
  namespaceKey,
  refuse,
  toolKey,
  without,
  type Closed,
  type CommittedPause,
  type LifecycleAudience,
  type LifecycleState,
  type OpenTool,
  type Refusal,
} from './lifecycle-state.ts';

export interface RuleContext {
  readonly audience: LifecycleAudience;
  /** The harness keeps no session: `run.finished` needs no committed state (rule 13). */
  readonly ephemeral: boolean;
  readonly pause: CommittedPause | null;
}

/** What an event does to a running stream, beyond what every event does. */
export type Rule<T extends LifecycleType> = (
  state: LifecycleState,
  event: LifecycleEventOf<T>,
  context: RuleContext,
) => LifecycleState | Refusal;

// ── run ──────────────────────────────────────────────────────────────────────────────────────────

export const start: Rule<'run.started'> = (state, { run_id, conversation_id, sequence }) =>
  sequence === 0
    ? { ...state, phase: 'running', run: { run_id, conversation_id } }
    : refuse(2, 'run.started has a sequence other than 0');

const end = (state: LifecycleState, terminal: TerminalType): LifecycleState | Refusal =>
  Object.keys(state.namespaces).length > 0
    ? refuse(9, `${terminal} while a namespace is open`)
    : { ...state, phase: 'ended', terminal };

export const finish: Rule<'run.finished'> = (state, { data }, { audience, ephemeral }) => {
  const durability = data.thread_state?.durability;
  if (durability === 'uncertain' || durability === 'failed') {
    return refuse(15, 'a session state that was not committed ends as run.error thread_durability_uncertain');
  }
  if (audience !== 'adapter' && !ephemeral && durability !== 'committed') {
    return refuse(13, 'run.finished without a committed thread_state');
  }
  return end(state, 'run.finished');
};

export const pause: Rule<'run.interrupted'> = (state, { data }, { audience, pause: committed }) => {
  const { interrupt } = state;
  if (interrupt === null || interrupt.id !== data.interrupt_id) {
    return refuse(14, 'run.interrupted names an interrupt that was not requested');
  }
  const reason = interrupt.type === 'form_input' ? 'human_input' : 'tool_approval';
  if (data.reason !== reason) return refuse(14, 'run.interrupted gives a reason that is not that of its interrupt');
  if (audience === 'coordinator' && committed?.interrupt_id !== data.interrupt_id) {
    return refuse(14, 'run.interrupted before the interrupt and the state to resume from were committed');
  }
  return end(state, 'run.interrupted');
};

export const cancel: Rule<'run.cancelled'> = (state) => end(state, 'run.cancelled');

export const fail: Rule<'run.error'> = (state, { data }) =>
  data.code === 'thread_durability_uncertain' && data.retryable
    ? refuse(15, 'thread_durability_uncertain is never retryable')
    : end(state, 'run.error');

// ── text and reasoning ───────────────────────────────────────────────────────────────────────────

type Family = 'text' | 'reasoning';

export const openBlock =
  (family: Family): Rule<'text.started' | 'reasoning.started'> =>
  (state, { data, namespace }) => {
    const id = data.message_id;
    const key = blockKey(family, id);
    if (state.blocks[key] !== undefined || lookUp(state.closed, key) !== undefined) {
      return refuse(5, `${family}.started twice with one message_id`);
    }
    if (state.counts.blocks >= limit.TEXT_BLOCKS_PER_RUN_LIMIT) return tooMany('text and reasoning blocks');
    if (Object.keys(state.blocks).length >= limit.OPEN_BLOCKS_LIMIT) return tooMany('open text and reasoning blocks');
    const counts = { ...state.counts, blocks: state.counts.blocks + 1 };
    return { ...state, counts, blocks: { ...state.blocks, [key]: { id, namespace } } };
  };

export const extendBlock =
  (family: Family): Rule<'text.delta' | 'reasoning.delta'> =>
  (state, { data, namespace }) => {
    const block = state.blocks[blockKey(family, data.message_id)];
    if (block === undefined) return refuse(5, `${family}.delta of a message that is not open`);
    if (!samePath(block.namespace, namespace)) return refuse(5, `${family}.delta in another namespace than its start`);
    return addText(state, data.delta);
  };

export const closeBlock =
  (family: Family): Rule<'text.finished' | 'reasoning.finished'> =>
  (state, { data, namespace }) => {
    const key = blockKey(family, data.message_id);
    const block = state.blocks[key];
    if (block === undefined) return refuse(5, `${family}.finished of a message that is not open`);
    if (!samePath(block.namespace, namespace)) {
      return refuse(5, `${family}.finished in another namespace than its start`);
    }
    return { ...state, blocks: without(state.blocks, key), closed: withEntry(state.closed, key, ended(namespace)) };
  };

// ── tools ────────────────────────────────────────────────────────────────────────────────────────

export const openTool: Rule<'tool.started'> = (state, { data, namespace }) => {
  const id = data.tool_call_id;
  const key = toolKey(id);
  if (state.tools[key] !== undefined || lookUp(state.closed, key) !== undefined) {
    return refuse(6, 'tool.started twice with one tool_call_id');
  }
  if (state.counts.tools >= limit.TOOL_CALLS_PER_RUN_LIMIT) return tooMany('tool calls');
  if (Object.keys(state.tools).length >= limit.OPEN_TOOL_CALLS_LIMIT) return tooMany('open tool calls');
  const isWhole = Object.keys(data.arguments).length > 0;
  const argumentChars = isWhole ? JSON.stringify(data.arguments).length : 0;
  const counts = { ...state.counts, tools: state.counts.tools + 1 };
  return { ...state, counts, tools: { ...state.tools, [key]: { id, namespace, argumentChars, isWhole } } };
};

export const extendTool: Rule<'tool.arguments.delta'> = (state, { data, namespace }) => {
  const key = toolKey(data.tool_call_id);
  const tool = openToolIn(state, data.tool_call_id, namespace);
  if ('rule' in tool) return tool;
  if (tool.isWhole) return refuse(6, 'tool.arguments.delta of a tool call that was given its arguments at the start');
  const argumentChars = tool.argumentChars + data.delta.length;
  if (argumentChars > limit.TOOL_ARGUMENTS_LIMIT_CHARS) return tooMany('characters of arguments in one tool call');
  return addText({ ...state, tools: { ...state.tools, [key]: { ...tool, argumentChars } } }, data.delta);
};

export const closeTool =
  (fate: Closed['fate']): Rule<'tool.finished' | 'tool.error'> =>
  (state, { data, namespace }) => {
    const key = toolKey(data.tool_call_id);
    const closed = lookUp(state.closed, key);
    if (closed !== undefined && closed.fate !== fate) return refuse(7, 'a tool call both finishes and errors');
    const tool = openToolIn(state, data.tool_call_id, namespace);
    if ('rule' in tool) return tool;
    return { ...state, tools: without(state.tools, key), closed: withEntry(state.closed, key, ended(namespace, fate)) };
  };

function openToolIn(state: LifecycleState, toolCallId: string, namespace: readonly string[]): OpenTool | Refusal {
  const tool = state.tools[toolKey(toolCallId)];
  if (tool === undefined) return refuse(6, 'an event of a tool call that is not open');
  return samePath(tool.namespace, namespace) ? tool : refuse(6, 'an event of a tool call of another namespace');
}

// ── interrupts ───────────────────────────────────────────────────────────────────────────────────

export const ask: Rule<'interrupt.requested'> = (state, { data }) => ({
  ...state,
  phase: 'interrupting',
  interrupt: { id: data.interrupt_id, type: data.interrupt_type },
});

// ── namespaces ───────────────────────────────────────────────────────────────────────────────────

export const enter: Rule<'namespace.entered'> = (state, { data, namespace: path }) => {
  const key = namespaceKey(path);
  const parent = namespaceKey(path.slice(0, -1));
  const { agent_id: agentId, parent_tool_call_id: parentToolCallId } = data;
  if (path.length === 0) return refuse(9, 'the root namespace is never entered');
  if (state.namespaces[key] !== undefined) return refuse(9, 'a namespace is entered twice');
  if (parent !== '' && state.namespaces[parent] === undefined) {
    return refuse(10, 'a namespace is entered inside one that is not active');
  }
  const call = toolKey(parentToolCallId);
  const open = state.tools[call];
  const home = open === undefined ? lookUp(state.closed, call)?.namespace : namespaceKey(open.namespace);
  if (home !== parent) return refuse(10, 'a namespace is entered for a delegation call that its parent did not start');
  if (Object.keys(state.namespaces).length >= limit.OPEN_NAMESPACES_LIMIT) return tooMany('open namespaces');
  return { ...state, namespaces: { ...state.namespaces, [key]: { path, agentId, parentToolCallId } } };
};

/** Between an interrupt and its `run.interrupted` only a namespace that the interrupt suspends may be left. */
export const suspend: Rule<'namespace.exited'> = (state, event, context) =>
  event.data.outcome === 'interrupted' ? leave(state, event, context) : refuse(8, AFTER_INTERRUPT);

export const leave: Rule<'namespace.exited'> = (state, { data, namespace: path }) => {
  if (path.length === 0) return refuse(9, 'the root namespace is never exited');
  const key = namespaceKey(path);
  const namespace = state.namespaces[key];
  if (namespace === undefined) return refuse(9, 'a namespace is exited that is not active');
  if (Object.keys(state.namespaces).some((other) => other.startsWith(`${key}\n`))) {
    return refuse(9, 'a namespace is exited before the ones inside it');
  }
  if (namespace.agentId !== data.agent_id || namespace.parentToolCallId !== data.parent_tool_call_id) {
    return refuse(10, 'a namespace is exited with another agent or delegation call than it was entered with');
  }
  return { ...state, namespaces: without(state.namespaces, key) };
};

// ── the rest ─────────────────────────────────────────────────────────────────────────────────────

export const warn: Rule<'warning'> = (state) =>
  state.counts.warnings >= limit.WARNINGS_PER_RUN_LIMIT
    ? tooMany('warnings')
    : { ...state, counts: { ...state.counts, warnings: state.counts.warnings + 1 } };

export const pass: Rule<'usage.updated' | 'provider.metadata'> = (state) => state;

export const AFTER_INTERRUPT = 'after interrupt.requested only closing events and run.interrupted may follow';

/** Rule 10: an event speaks in the root or in a namespace that is active. */
export function isActive(state: LifecycleState, path: readonly string[]): boolean {
  return path.length === 0 || state.namespaces[namespaceKey(path)] !== undefined;
}

/** Types that only close what is open: the limits on how much a run may say do not hold them back. */
export const CLOSING_TYPES: ReadonlySet<LifecycleType> = new Set([
  ...(['run.finished', 'run.interrupted', 'run.cancelled', 'run.error', 'interrupt.requested'] as const),
  ...(['text.finished', 'reasoning.finished', 'tool.finished', 'tool.error', 'namespace.exited'] as const),
]);

/** Rule 11 as it is for every event: how many a run may have. */
export function countEvent(state: LifecycleState, type: LifecycleType): LifecycleState | Refusal {
  const { events } = state.counts;
  if (events >= limit.EVENTS_PER_RUN_LIMIT && !CLOSING_TYPES.has(type)) return tooMany('events');
  return { ...state, counts: { ...state.counts, events: events + 1 } };
}

function addText(state: LifecycleState, delta: LifecycleData<'text.delta'>['delta']): LifecycleState | Refusal {
  const textChars = state.counts.textChars + delta.length;
  if (textChars > limit.TEXT_PER_RUN_LIMIT_CHARS) return tooMany('characters of text');
  return { ...state, counts: { ...state.counts, textChars } };
}

function ended(namespace: readonly string[], fate: Closed['fate'] = 'finished'): Closed {
  return { fate, namespace: namespaceKey(namespace) };
}

function tooMany(what: string): Refusal {
  return refuse(11, `too many ${what}`);
}

function samePath(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((element, i) => element === b[i]);
}
