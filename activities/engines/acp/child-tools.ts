import { z } from 'zod';
import type { CanonicalBody } from '../../../contract/canonical.ts';
import { previewText } from '../../../contract/frames.ts';
import { PREVIEW_LIMIT_CHARS } from '../../../contract/platform-frames.ts';
import { TABLE_LIMITS, type ToolFacts } from './acp-state.ts';
import type { ToolUpdate } from './acp-schema.ts';
import { entryOf, withEntry } from '../bounded-table.ts';
import type { Scribe, Speaker } from './scribe.ts';
import { outputPreview } from './tool-output.ts';

/** Tools whose call is the child: Claude's `Task` and `Agent`, OpenCode's `task`. The child's id is the call's. */
const LAUNCHING_TOOLS = new Set(['Task', 'Agent', 'task']);

const optionalText = z.string().nullish().catch(null);
const TaskInput = z.looseObject({ prompt: z.string(), description: optionalText, subagent_type: optionalText });
const Detached = z.union([
  z.looseObject({ isAsync: z.literal(true) }),
  z.looseObject({ status: z.literal('async_launched') }),
]);
const OwnSession = z.looseObject({ metadata: z.looseObject({ sessionId: z.string().min(1) }) });

/** Codex says in the input of its agent tools which threads they are about and how those are. */
const AgentThreads = z.looseObject({
  prompt: optionalText,
  model: optionalText,
  receiverThreadIds: z.array(z.string().min(1)),
  agentsStates: z.record(z.string(), z.looseObject({ status: z.string(), message: optionalText })),
});
const RUNNING_AGENT_STATES = new Set(['pendingInit', 'running']);

interface CallFrame {
  readonly id: string;
  readonly facts: ToolFacts;
  readonly update: ToolUpdate;
}

/** Says the children that a call's input tells of, and what it tells of their state. */
export function sayChildStart(scribe: Scribe, speaker: Speaker, { id, facts, update }: CallFrame): ToolFacts {
  sayAgentThreads(scribe, speaker, id, update.rawInput);
  if (!LAUNCHING_TOOLS.has(facts.name)) return facts;
  const isDetached =
    facts.child?.isDetached === true || Detached.safeParse(update['_meta']?.claudeCode?.toolResponse).success;
  const input = TaskInput.safeParse(update.rawInput ?? facts.input).data;
  const role = input?.subagent_type ?? facts.child?.role ?? null;
  // an input over the limit is remembered as a text
  if (facts.child === null && (input !== undefined || typeof facts.input === 'string')) {
    const prompt = input === undefined ? {} : { prompt: previewText(input.prompt, PREVIEW_LIMIT_CHARS) };
    scribe.say(speaker, {
      kind: 'child.started',
      childId: id,
      launchToolCallId: id,
      ...(speaker.child === null ? {} : { parentChildId: speaker.child }),
      ...(input?.description == null ? {} : { title: previewText(input.description, 500) }),
      state: { ...prompt, ...(role === null ? {} : { role }) },
    });
    return { ...facts, child: { role, isDetached } };
  }
  return facts.child === null ? facts : { ...facts, child: { role, isDetached } };
}

/** A call that only sent its child off does not end it: the run's end does, if nothing else is heard of it. */
export function sayChildEnd(scribe: Scribe, speaker: Speaker, { id, facts, update }: CallFrame): void {
  if (facts.child === null) return;
  if (facts.child.isDetached) {
    scribe.say(speaker, { kind: 'child.updated', childId: id, status: 'running' });
    return;
  }
  const result = outputPreview(update);
  const session = OwnSession.safeParse(update.rawOutput).data?.metadata.sessionId;
  const own = session === undefined ? speaker : { ...speaker, native: scribe.childSpeaker(session).native };
  scribe.say(own, {
    kind: 'child.completed',
    childId: id,
    status: update.status === 'failed' ? 'error' : 'ok',
    ...(result === '' ? {} : { result }),
  });
}

function sayAgentThreads(scribe: Scribe, speaker: Speaker, launchToolCallId: string, rawInput: unknown): void {
  const call = AgentThreads.safeParse(rawInput).data;
  if (call === undefined) return;
  for (const childId of call.receiverThreadIds) {
    const own = scribe.childSpeaker(childId);
    if (entryOf(scribe.state.children, childId) === undefined) {
      const prompt = call.prompt == null ? {} : { prompt: previewText(call.prompt, PREVIEW_LIMIT_CHARS) };
      const model = call.model == null || call.model === '' ? {} : { model: call.model };
      const parent = speaker.child === null ? {} : { parentChildId: speaker.child };
      scribe.say(own, { kind: 'child.started', childId, launchToolCallId, ...parent, state: { ...prompt, ...model } });
      rememberChild(scribe, childId, true);
    }
    const state = Object.hasOwn(call.agentsStates, childId) ? call.agentsStates[childId] : undefined;
    if (state !== undefined && entryOf(scribe.state.children, childId)?.isRunning === true) {
      scribe.say(own, agentState(childId, state));
      rememberChild(scribe, childId, RUNNING_AGENT_STATES.has(state.status));
    }
  }
}

function agentState(
  childId: string,
  { status, message }: { readonly status: string; readonly message?: string | null | undefined },
): CanonicalBody {
  if (RUNNING_AGENT_STATES.has(status)) return { kind: 'child.updated', childId, status };
  const result = message == null || message === '' ? {} : { result: previewText(message, PREVIEW_LIMIT_CHARS) };
  return { kind: 'child.completed', childId, status: status === 'completed' ? 'ok' : 'error', ...result };
}

export function rememberChild(scribe: Scribe, childId: string, isRunning: boolean): void {
  scribe.remember({ children: withEntry(scribe.state.children, childId, { isRunning }, TABLE_LIMITS.children) });
}
