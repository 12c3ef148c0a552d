import type { CanonicalBody, DeliveredEvent } from './canonical.ts';
import { PLATFORM } from './frames.ts';
import * as limit from './lifecycle-limits.ts';
import { lookUp } from './lifecycle-chunked-map.ts';
import { unfinished } from './lifecycle-closing.ts';
import { markUsed, markWithdrawn, nextId, say, type Draft } from './lifecycle-draft.ts';
import type { ProjectedTool, ProjectionState } from './lifecycle-projection-state.ts';
import { toolKey, without } from './lifecycle-state.ts';
import { argumentsOf, boundedText, displayResult, lifecycleId, lifecycleName } from './lifecycle-values.ts';

/** Tool calls, from `tool.*`. */
type Started = CanonicalBody<'tool.started'>;
type Completed = CanonicalBody<'tool.completed'>;

/** Says the start of a call; a call that is open already is not said again. */
export function startTool(draft: Draft, started: Started, namespace: readonly string[]): boolean {
  const { toolCallId, name, input } = started;
  return beginTool(draft, toolKey(toolCallId), toolCallId, {
    name: lifecycleName(name, 'tool'),
    args: argumentsOf(input),
    namespace,
  });
}

/** Opens a call under a key of its own; false where a limit of lifecycle v1 is reached. */
export function beginTool(
  draft: Draft,
  key: string,
  canonicalId: string,
  call: Pick<ProjectedTool, 'name' | 'args' | 'namespace'>,
): boolean {
  if (draft.state.tools[key] !== undefined) return true;
  const { id, turn } = nextId(draft, key, canonicalId, false);
  if (!announce(draft, { id, ...call })) return false;
  markUsed(draft, key, turn);
  draft.state = { ...draft.state, tools: { ...draft.state.tools, [key]: { id, ...call } } };
  return true;
}

/** `tool.started`; said again at the start of a leg for each call that the pause left open, with the id it has. */
export function announce(draft: Draft, { id, name, args, namespace }: ProjectedTool): boolean {
  const data = { tool_call_id: id, tool_name: name, arguments: { ...args } };
  return say(draft, { namespace, body: { type: 'tool.started', data } });
}

export function completeTool(
  draft: Draft,
  completed: Completed,
  { identity }: DeliveredEvent,
  namespace: readonly string[],
): void {
  const key = toolKey(completed.toolCallId);
  const used = lookUp(draft.state.used, key);
  // a call that ended already, with its sub-agent or in an earlier leg, does not end twice
  if (draft.state.tools[key] === undefined && used?.isWithdrawn === false) return;
  const { toolCallId } = completed;
  startTool(draft, { kind: 'tool.started', toolCallId, name: 'tool' }, namespace);
  noteEffects(draft, effectsOf(draft.state.tools[key]?.decision, identity.provider === PLATFORM));
  endTool(draft, key, completed);
}

export function endTool(
  draft: Draft,
  key: string,
  { status, preview, artifact, error }: Omit<Completed, 'kind' | 'toolCallId'>,
): void {
  const tool = draft.state.tools[key];
  if (tool === undefined) return;
  const { id: tool_call_id, namespace } = tool;
  if (status === 'ok') {
    const ref = artifact === undefined ? {} : { result_ref: lifecycleId(artifact.artifactId) };
    const data = { tool_call_id, result: displayResult(preview ?? ''), ...ref };
    say(draft, { namespace, body: { type: 'tool.finished', data } });
  } else {
    const message = boundedText(error ?? preview ?? '', limit.MESSAGE_LIMIT_CHARS) || 'the tool call failed';
    const data = { tool_call_id, code: ERROR_CODE_AFTER.get(tool.decision) ?? 'tool_error', message, retryable: false };
    say(draft, { namespace, body: { type: 'tool.error', data } });
  }
  forget(draft, key);
}

/** Ends a call whose outcome nobody will tell: its sub-agent has left. */
export function abandonTool(draft: Draft, key: string): void {
  const tool = draft.state.tools[key];
  if (tool === undefined) return;
  say(draft, { namespace: tool.namespace, body: unfinished(tool.id) });
  noteEffects(draft, 'possible');
  forget(draft, key);
}

/** The log takes back what it said of a call: it ends as an error here, and is said again under a new id if it is made again. */
export function withdrawTool(draft: Draft, toolCallId: string): void {
  const key = toolKey(toolCallId);
  const tool = draft.state.tools[key];
  if (tool !== undefined) {
    const message = 'the attempt that made this call has died; the step is repeated';
    const data = { tool_call_id: tool.id, code: 'step_repeated', message, retryable: false };
    say(draft, { namespace: tool.namespace, body: { type: 'tool.error', data } });
    noteEffects(draft, 'possible');
    forget(draft, key);
  }
  markWithdrawn(draft, key);
}

/** Keeps what a person decided about a call, and the arguments that they changed it to. */
export function decideTool(draft: Draft, key: string, decision: string, input: unknown): void {
  const tool = draft.state.tools[key];
  if (tool === undefined) return;
  const decided = { ...tool, decision, ...(input === undefined ? {} : { args: argumentsOf(input) }) };
  draft.state = { ...draft.state, tools: { ...draft.state.tools, [key]: decided } };
}

type Effects = ProjectionState['effects'];
const WEIGHT: Readonly<Record<Effects, number>> = { none: 0, known: 1, possible: 2 };

/** What the run may have done outside: the worst that was seen stays. */
export function noteEffects(draft: Draft, effects: Effects): void {
  if (WEIGHT[effects] > WEIGHT[draft.state.effects]) draft.state = { ...draft.state, effects };
}

/** Decisions after which a gated call does not run, and the code that its error gets. */
const ERROR_CODE_AFTER: ReadonlyMap<string | undefined, string> = new Map([
  ['reject', 'tool_rejected'],
  ['rejected', 'tool_rejected'],
  ['dismissed', 'tool_rejected'],
  ['expired', 'tool_expired'],
  ['cancelled', 'tool_cancelled'],
]);

/** The tool of a question only asks: it has no effect. */
const ANSWERED = 'answered';

function effectsOf(decision: string | undefined, isClosedByPlatform: boolean): Effects {
  if (decision === ANSWERED || ERROR_CODE_AFTER.has(decision)) return 'none';
  return isClosedByPlatform ? 'possible' : 'known';
}

function forget(draft: Draft, key: string): void {
  draft.state = { ...draft.state, tools: without(draft.state.tools, key) };
}
