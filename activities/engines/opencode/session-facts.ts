import type { CanonicalBody } from '../../../contract/canonical.ts';
import { previewText, type NativeFrame } from '../../../contract/frames.ts';
import { PREVIEW_LIMIT_CHARS } from '../../../contract/platform-frames.ts';
import { entryOf } from '../bounded-table.ts';
import { modelName, withChild } from './children.ts';
import { CommandList, Session, TodoList, type Message, type Part, type Tokens } from './opencode-schema.ts';
import {
  quiet,
  saying,
  TABLE_LIMITS,
  unknown,
  withLast,
  type OpencodeState,
  type Speaker,
  type Step,
  type Usage,
} from './translation-state.ts';

const TITLE_CHARS = 500;
const ENTRIES_LIMIT = 100;
/** What a session is called until it has a title. */
const UNTITLED = /^(New|Child) session - /;

/** The session that was begun or taken up: the run's own from now on. */
export function sessionOpened(state: OpencodeState, frame: NativeFrame): Step {
  const session = Session.safeParse(frame['result']).data;
  if (session === undefined) return unknown(state);
  const { id: sessionId, directory, title, version } = session;
  const next = { ...state, sessionId, directory: directory ?? null, title };
  const agent = { name: 'OpenCode', ...(version == null ? {} : { version }) };
  return saying(next, [{ kind: 'session.metadata', metadata: { agent } }]);
}

/** A session has another title. */
export function sessionUpdated(state: OpencodeState, { title }: { title: string }, { isChild }: Speaker): Step {
  if (isChild || title === '' || title === state.title || UNTITLED.test(title))
    return quiet(state, 'nothing new of the session');
  const metadata = { title: previewText(title, TITLE_CHARS) };
  return saying({ ...state, title }, [{ kind: 'session.metadata', metadata }]);
}

/** As whom the engine answers, by which model: said when it is another than before. */
export function modeOf(state: OpencodeState, message: Message): { state: OpencodeState; bodies: CanonicalBody[] } {
  const { agent, providerID, modelID } = message;
  const model = modelName({ providerID: providerID ?? '', modelID: modelID ?? '' });
  const mode = JSON.stringify([agent, model]);
  if (mode === state.mode || (agent == null && model === '')) return { state, bodies: [] };
  const said = { ...(agent == null ? {} : { mode: agent }), ...(model === '' ? {} : { model }) };
  return { state: { ...state, mode }, bodies: [{ kind: 'mode.updated', ...said }] };
}

/**
 * A call of the model has ended.
 *
 * **Contract:** what a run used is the sum of its own calls, each counted once; a sub-agent's stands in its own state.
 */
export function modelCallEnded(state: OpencodeState, part: Part, { isChild, sessionId }: Speaker): Step {
  if (part.tokens == null || state.counted.includes(part.id))
    return quiet(state, 'a call of the model that was counted');
  const counted = { ...state, counted: withLast(state.counted, part.id, TABLE_LIMITS.counted) };
  if (!isChild) {
    const usage = added(state.usage, part.tokens, part.cost);
    return saying({ ...counted, usage }, [{ kind: 'usage.updated', ...shown(usage) }]);
  }
  const child = entryOf(state.children, sessionId);
  if (child === undefined) return quiet(state, 'of a session that is not of this run');
  const usage = added(child.usage, part.tokens, part.cost);
  const updated: CanonicalBody = {
    kind: 'child.updated',
    childId: sessionId,
    status: 'running',
    state: { usage: shown(usage) },
  };
  return saying(withChild(counted, sessionId, { ...child, usage }), [updated]);
}

type PlanEntry = CanonicalBody<'plan.updated'>['entries'][number];
const STATUSES: readonly PlanEntry['status'][] = ['pending', 'in_progress', 'completed', 'cancelled'];

/** The whole plan, each time. An entry has no id: it is its place and its text. */
export function planUpdated(state: OpencodeState, frame: NativeFrame): Step {
  const todos = TodoList.safeParse(frame['params']).data?.todos;
  if (todos === undefined) return unknown(state);
  const entries = todos.slice(0, ENTRIES_LIMIT).flatMap(({ content, status }, index): PlanEntry[] => {
    const text = previewText(content.trim(), PREVIEW_LIMIT_CHARS);
    if (text === '') return [];
    return [{ id: `${String(index)}-${text}`, text, status: STATUSES.find((known) => known === status) ?? 'pending' }];
  });
  return saying(state, entries.length === 0 ? [] : [{ kind: 'plan.updated', entries }], {
    why: 'a plan without entries',
  });
}

export function commandsListed(state: OpencodeState, frame: NativeFrame): Step {
  const listed = CommandList.safeParse(frame['result']).data;
  if (listed === undefined) return unknown(state);
  const catalog = listed.map(({ name, description }) => ({ name, ...(description == null ? {} : { description }) }));
  return saying(state, [{ kind: 'commands.updated', commands: listed.map(({ name }) => name), catalog }]);
}

/** The engine counts apart what it read from the cache, and what the model thought. */
function added(usage: Usage, { input, output, reasoning, cache }: Tokens, cost: number): Usage {
  return {
    inputTokens: usage.inputTokens + input + cache.read + cache.write,
    cachedInputTokens: usage.cachedInputTokens + cache.read,
    outputTokens: usage.outputTokens + output + reasoning,
    costUsd: usage.costUsd + cost,
  };
}

/** A model whose price the engine does not know costs nothing, it says. */
function shown({ costUsd, ...tokens }: Usage): Omit<Usage, 'costUsd'> & { costUsd?: number } {
  return costUsd === 0 ? tokens : { ...tokens, costUsd };
}
