import { isObject, type GraphState } from './graph-shape.ts';

/** A tool call in a graph's messages. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** The calls of a state, and of its subgraphs, that have no result. */
export function openCallsOf(state: GraphState): ToolCall[] {
  const below = state.tasks.flatMap(({ state: inner }) => (isState(inner) ? openCallsOf(inner) : []));
  return [...openIn(state.values['messages']), ...below];
}

/** The calls of the last message that has some, without those that were answered behind it. */
export function openIn(messages: unknown): ToolCall[] {
  if (!Array.isArray(messages)) return [];
  const said = messages.filter(isObject);
  const last = said.findLastIndex((message) => typeOf(message) === 'ai' && callsOf(message).length > 0);
  if (last < 0) return [];
  const answered = new Set(said.slice(last + 1).map((message) => message['tool_call_id']));
  return callsOf(said[last] ?? {}).filter(({ id }) => !answered.has(id));
}

function typeOf(message: Readonly<Record<string, unknown>>): unknown {
  const { getType, type } = message as { getType?: () => string; type?: unknown };
  return typeof getType === 'function' ? getType.call(message) : type;
}

function callsOf({ tool_calls: calls }: Readonly<Record<string, unknown>>): ToolCall[] {
  if (!Array.isArray(calls)) return [];
  return calls.filter(isObject).flatMap(({ id, name, args }) => {
    if (typeof id !== 'string' || typeof name !== 'string') return [];
    return [{ id, name, args: isObject(args) ? args : {} }];
  });
}

function isState(value: unknown): value is GraphState {
  return isObject(value) && isObject(value['values']) && Array.isArray(value['tasks']);
}
