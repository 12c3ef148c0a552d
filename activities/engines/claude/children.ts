import type { CanonicalBody } from '../../../contract/canonical.ts';
import { previewText } from '../../../contract/frames.ts';
import { PREVIEW_LIMIT_CHARS } from '../../../contract/platform-frames.ts';
import { Detached, TaskMessage, type Scope } from './claude-schema.ts';
import {
  keyOf,
  quiet,
  saying,
  unread,
  withEntry,
  type ClaudeState,
  type Saying,
  type Step,
} from './translation-state.ts';

const TITLE_CHARS = 500;
const AGENT = 'local_agent';
const COMMAND = 'the command that it is says it';

interface Launch {
  readonly title: string;
  readonly prompt?: string | null | undefined;
  readonly role?: string | null | undefined;
}

/** A sub-agent is known from now on: said once. Its id is that of the call which launched it. */
function childSeen(state: ClaudeState, childId: string, { title, prompt, role }: Launch): Saying {
  if (state.children[keyOf(childId)] !== undefined) return { state, bodies: [] };
  const known = {
    ...(prompt == null || prompt === '' ? {} : { prompt: previewText(prompt, PREVIEW_LIMIT_CHARS) }),
    ...(role == null || role === '' ? {} : { role }),
  };
  const started: CanonicalBody = {
    kind: 'child.started',
    childId,
    launchToolCallId: childId,
    ...(title === '' ? {} : { title: previewText(title, TITLE_CHARS) }),
    ...(Object.keys(known).length === 0 ? {} : { state: known }),
  };
  return { state: withChild(state, childId, true), bodies: [started] };
}

/** A sub-agent says something. */
export function childSpeaks(state: ClaudeState, childId: string, scope: Scope): Saying {
  return childSeen(state, childId, { title: scope.task_description ?? '', role: scope.subagent_type });
}

/** A task begins: a sub-agent, or a command, which its tool tells of. */
export function taskStarted(state: ClaudeState, params: unknown): Step {
  const task = TaskMessage.safeParse(params).data;
  if (task === undefined) return unread(state);
  if (task.task_type !== AGENT) return quiet(state, COMMAND);
  const childId = task.tool_use_id ?? task.task_id;
  const { description: title, prompt, subagent_type: role } = task;
  const seen = childSeen({ ...state, tasks: withEntry(state.tasks, task.task_id, childId) }, childId, {
    title,
    prompt,
    role,
  });
  return saying(seen.state, seen.bodies, 'the sub-agent was said');
}

export function taskProgressed(state: ClaudeState, params: unknown): Step {
  const task = TaskMessage.safeParse(params).data;
  if (task === undefined) return unread(state);
  const childId = childOf(state, task);
  if (childId === null) return quiet(state, COMMAND);
  const known = { ...state, tasks: withEntry(state.tasks, task.task_id, childId) };
  const seen = childSeen(known, childId, { title: task.description, role: task.subagent_type });
  if (seen.state.children[keyOf(childId)]?.isRunning !== true)
    return quiet(seen.state, 'late: the sub-agent has ended');
  const { summary, last_tool_name: lastToolName, usage } = task;
  const facts = {
    ...(summary == null ? {} : { summary: previewText(summary, PREVIEW_LIMIT_CHARS) }),
    ...(lastToolName == null ? {} : { lastToolName }),
    ...usedBy(usage),
  };
  const updated: CanonicalBody = { kind: 'child.updated', childId, status: 'running', state: facts };
  return saying(seen.state, [...seen.bodies, updated]);
}

const GOES_ON: ReadonlySet<string> = new Set(['pending', 'running', 'paused']);

export function taskUpdated(state: ClaudeState, params: unknown): Step {
  const task = TaskMessage.safeParse(params).data;
  if (task === undefined) return unread(state);
  const childId = childOf(state, task);
  if (childId === null) return quiet(state, COMMAND);
  const status = task.patch?.status;
  const isRunning = state.children[keyOf(childId)]?.isRunning === true;
  if (status == null || !GOES_ON.has(status) || !isRunning) return quiet(state, 'its end says it');
  return saying(state, [{ kind: 'child.updated', childId, status }]);
}

/** A task has ended. */
export function taskEnded(state: ClaudeState, params: unknown): Step {
  const task = TaskMessage.safeParse(params).data;
  if (task === undefined) return unread(state);
  const childId = childOf(state, task);
  if (childId === null) return quiet(state, COMMAND);
  const { status, summary, description, usage } = task;
  const seen = childSeen(state, childId, { title: description });
  const ended = childEnded(seen.state, childId, { isWell: status === 'completed', result: summary ?? '', usage });
  return saying(ended.state, [...seen.bodies, ...ended.bodies], 'the sub-agent has ended already');
}

/** The result of a call that launched a sub-agent ends it, unless it was only sent off. */
export function launchEnded(
  state: ClaudeState,
  childId: string,
  { result, isWell, output }: { readonly result: unknown; readonly isWell: boolean; readonly output: string },
): Saying {
  if (state.children[keyOf(childId)] === undefined) return { state, bodies: [] };
  if (Detached.safeParse(result).success) {
    return { state, bodies: [{ kind: 'child.updated', childId, status: 'running' }] };
  }
  return childEnded(state, childId, { isWell, result: output });
}

function childEnded(
  state: ClaudeState,
  childId: string,
  end: { readonly isWell: boolean; readonly result: string; readonly usage?: TaskMessage['usage'] },
): Saying {
  if (state.children[keyOf(childId)]?.isRunning !== true) return { state, bodies: [] };
  const used = usedBy(end.usage);
  const completed: CanonicalBody = {
    kind: 'child.completed',
    childId,
    status: end.isWell ? 'ok' : 'error',
    ...(end.result === '' ? {} : { result: previewText(end.result, PREVIEW_LIMIT_CHARS) }),
    ...(Object.keys(used).length === 0 ? {} : { state: used }),
  };
  return { state: withChild(state, childId, false), bodies: [completed] };
}

/** The sub-agent that a task is; null for a command's. */
function childOf({ tasks, children }: ClaudeState, task: TaskMessage): string | null {
  const { task_id: taskId, tool_use_id: callId, subagent_type: role } = task;
  const known = tasks[keyOf(taskId)];
  if (known !== undefined) return known;
  const isAgents = role != null || (callId != null && children[keyOf(callId)] !== undefined);
  return isAgents ? (callId ?? taskId) : null;
}

function usedBy(usage: TaskMessage['usage']) {
  if (usage == null) return {};
  const { total_tokens: totalTokens, tool_uses: toolUses, duration_ms: durationMs } = usage;
  return { usage: { totalTokens, toolUses, durationMs } };
}

function withChild(state: ClaudeState, childId: string, isRunning: boolean): ClaudeState {
  return { ...state, children: withEntry(state.children, childId, { isRunning }) };
}
