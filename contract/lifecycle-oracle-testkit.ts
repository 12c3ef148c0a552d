import { isTerminal, type LifecycleEvent, type LifecycleEventOf, type LifecycleType } from './lifecycle.ts';
import type { RuleNumber } from './lifecycle-state.ts';

/**
 * The rules of lifecycle v1 a second time, for tests: each as a question about the whole history, with no state and no thought
 * of speed. Given a legal history, which rules does one more event break? (Rule 11 is about amounts, 12 about the end.)
 */
export function brokenRules(history: readonly LifecycleEvent[], next: LifecycleEvent): Set<RuleNumber> {
  const broken = new Set<RuleNumber>();
  for (const [rule, isBroken] of Object.entries(RULES)) {
    if (isBroken(history, next)) broken.add(Number(rule) as RuleNumber);
  }
  return broken;
}

type Question = (history: readonly LifecycleEvent[], next: LifecycleEvent) => boolean;

const RULES: Readonly<Record<Exclude<RuleNumber, 11 | 12>, Question>> = {
  1: (history, next) => history.some(({ sequence }) => sequence >= next.sequence),
  2: (history, next) => {
    const [first] = history;
    if (first === undefined) return next.type !== 'run.started' || next.sequence !== 0;
    return (
      next.type === 'run.started' || next.run_id !== first.run_id || next.conversation_id !== first.conversation_id
    );
  },
  3: (history, next) => history.some(isTerminal) && isTerminal(next),
  4: (history, next) => history.some(isTerminal) && !isTerminal(next),
  5: (history, next) => {
    const [family, verb] = next.type.split('.');
    if (family !== 'text' && family !== 'reasoning') return false;
    const mine = history.filter(
      ({ type, data }) => type.startsWith(`${family}.`) && messageOf(data) === messageOf(next.data),
    );
    if (verb === 'started') return mine.length > 0;
    return mine.length === 0 || mine.some(({ type }) => type === `${family}.finished`) || elsewhere(mine[0], next);
  },
  6: (history, next) => {
    if (!isOfTool(next)) return false;
    const mine = callOf(history, next);
    if (next.type === 'tool.started') return mine.length > 0;
    const [start] = mine;
    if (start === undefined || elsewhere(start, next)) return true;
    if (next.type === 'tool.arguments.delta' && start.type === 'tool.started') {
      return ends(mine).length > 0 || Object.keys(start.data.arguments).length > 0;
    }
    return ends(mine).some(({ type }) => type === next.type);
  },
  7: (history, next) =>
    isOfTool(next) && ends([next]).length > 0 && ends(callOf(history, next)).some(({ type }) => type !== next.type),
  8: (history, next) =>
    history.at(-1) !== undefined &&
    history.some(({ type }) => type === 'interrupt.requested') &&
    !MAY_FOLLOW_INTERRUPT.includes(next.type) &&
    !(next.type === 'namespace.exited' && next.data.outcome === 'interrupted'),
  9: (history, next) => {
    const active = activeIn(history).map(pathOf);
    const path = pathOf(next);
    if (isTerminal(next)) return active.length > 0;
    if (next.type === 'namespace.entered') return path === '[]' || active.includes(path);
    if (next.type !== 'namespace.exited') return false;
    return !active.includes(path) || active.some((other) => other !== path && other.startsWith(path.slice(0, -1)));
  },
  10: (history, next) => {
    const active = activeIn(history);
    const isHere = (path: readonly string[]) =>
      path.length === 0 || active.some((event) => pathOf(event) === JSON.stringify(path));
    if (next.type === 'namespace.exited') {
      const entry = active.find((event) => pathOf(event) === pathOf(next));
      const { agent_id, parent_tool_call_id } = next.data;
      return (
        entry !== undefined &&
        (entry.data.agent_id !== agent_id || entry.data.parent_tool_call_id !== parent_tool_call_id)
      );
    }
    if (next.type !== 'namespace.entered') return !isHere(next.namespace);
    const parent = next.namespace.slice(0, -1);
    const isMade = history.some(
      (event) =>
        event.type === 'tool.started' &&
        event.data.tool_call_id === next.data.parent_tool_call_id &&
        pathOf(event) === JSON.stringify(parent),
    );
    return next.namespace.length > 0 && (!isHere(parent) || !isMade);
  },
  13: (_, next) => {
    if (next.type !== 'run.finished') return false;
    const durability = next.data.thread_state?.durability;
    return durability === undefined || durability === 'pending';
  },
  14: (history, next) => {
    if (next.type !== 'run.interrupted') return false;
    const asked = history.findLast((event) => event.type === 'interrupt.requested');
    if (asked?.type !== 'interrupt.requested' || asked.data.interrupt_id !== next.data.interrupt_id) return true;
    return (asked.data.interrupt_type === 'form_input') !== (next.data.reason === 'human_input');
  },
  15: (_, next) =>
    next.type === 'run.error'
      ? next.data.code === 'thread_durability_uncertain' && next.data.retryable
      : next.type === 'run.finished' && ['uncertain', 'failed'].includes(next.data.thread_state?.durability ?? ''),
};

const MAY_FOLLOW_INTERRUPT: readonly LifecycleType[] = [
  ...(['run.interrupted', 'text.finished', 'reasoning.finished', 'tool.finished', 'tool.error'] as const),
];

function messageOf(data: object): unknown {
  return (data as { message_id?: unknown }).message_id;
}

type ToolEvent = Extract<LifecycleEvent, { type: `tool.${string}` }>;

function isOfTool(event: LifecycleEvent): event is ToolEvent {
  return event.type.startsWith('tool.');
}

function callOf(history: readonly LifecycleEvent[], next: ToolEvent): ToolEvent[] {
  return history.filter(isOfTool).filter(({ data }) => data.tool_call_id === next.data.tool_call_id);
}

function ends(events: readonly ToolEvent[]): ToolEvent[] {
  return events.filter(({ type }) => type === 'tool.finished' || type === 'tool.error');
}

function activeIn(history: readonly LifecycleEvent[]): LifecycleEventOf<'namespace.entered'>[] {
  return history.filter(
    (event, at): event is LifecycleEventOf<'namespace.entered'> =>
      event.type === 'namespace.entered' &&
      !history.slice(at).some((later) => later.type === 'namespace.exited' && pathOf(later) === pathOf(event)),
  );
}

function pathOf({ namespace }: LifecycleEvent): string {
  return JSON.stringify(namespace);
}

function elsewhere(start: LifecycleEvent | undefined, next: LifecycleEvent): boolean {
  return start !== undefined && pathOf(start) !== pathOf(next);
}
