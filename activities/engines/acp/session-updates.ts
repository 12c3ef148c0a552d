import { previewText } from '../../../contract/frames.ts';
import { PREVIEW_LIMIT_CHARS } from '../../../contract/platform-frames.ts';
import { Chunk, Compaction, Notice, SessionInfo, SessionState, ToolUpdate, type Kept } from './acp-schema.ts';
import { entryOf } from '../bounded-table.ts';
import { planOf } from './plans.ts';
import type { Scribe, Speaker } from './scribe.ts';
import { sayCommands, sayContextUsage, saySetting, saySettings } from './session-facts.ts';
import { sayLetter, sayLetterChunk, saySubagent } from './subagents.ts';
import { closeText, sayChunk } from './texts.ts';
import { sayToolUpdate, startHeldTools } from './tool-calls.ts';
import { blocksText } from './tool-output.ts';

/** One `session/update`, when its session is known. */
export interface UpdateFrame {
  readonly update: { readonly sessionUpdate: string; readonly [field: string]: unknown };
  readonly speaker: Speaker;
  readonly kept: Kept;
}

/** Says what it can and gives the reason for saying nothing; the empty reason: it is not what it should be. */
type SayUpdate = (scribe: Scribe, frame: UpdateFrame) => string;

/** Every kind of ACP v1, stable and unstable. */
export const SESSION_UPDATES: ReadonlyMap<string, SayUpdate> = new Map<string, SayUpdate>([
  ['user_message_chunk', () => 'our own words'],
  ['agent_message_chunk', (scribe, frame) => sayText(scribe, frame, 'message')],
  ['agent_thought_chunk', (scribe, frame) => sayText(scribe, frame, 'reasoning')],
  ['tool_call', sayTool],
  ['tool_call_update', sayTool],
  ['plan', (scribe, { update, speaker }) => sayPlan(scribe, speaker, update['entries'])],
  ['plan_update', (scribe, { update, speaker }) => sayNamedPlan(scribe, speaker, update['plan'])],
  ['plan_removed', () => 'a plan is replaced by the next, never removed'],
  ['available_commands_update', (scribe, { update }) => sayCommands(scribe, update)],
  ['current_mode_update', (scribe, { update }) => sayMode(scribe, update['currentModeId'])],
  ['config_option_update', (scribe, { update }) => sayOptions(scribe, update)],
  ['session_info_update', (scribe, { update }) => sayInfo(scribe, update)],
  ['usage_update', (scribe, { update }) => sayContextUsage(scribe, update)],
  ['notice', (scribe, { update, speaker }) => sayNotice(scribe, speaker, update)],
  ['compaction_update', (scribe, { update, speaker }) => sayCompaction(scribe, speaker, update)],
  ['compaction_summary_chunk', () => 'a piece of a summary, which the compaction tells whole'],
  ['subagent_update', (scribe, { update }) => saySubagent(scribe, update)],
  ['session_message', (scribe, { update }) => sayLetter(scribe, update)],
  ['session_message_chunk', (scribe, { update }) => sayLetterChunk(scribe, update)],
]);

/** Kinds that tell what was said, which the replay of a session repeats. */
export const REPLAYED_UPDATES: ReadonlySet<string> = new Set([
  'user_message_chunk',
  'agent_message_chunk',
  'agent_thought_chunk',
  'tool_call',
  'tool_call_update',
  'plan',
  'plan_update',
  'notice',
  'compaction_update',
  'subagent_update',
  'session_message',
  'session_message_chunk',
]);

/** The engine goes on to something else: what it was saying and writing is whole. */
export function turnToNext(scribe: Scribe, speaker: Speaker): void {
  closeText(scribe, speaker);
  startHeldTools(scribe);
}

function sayText(scribe: Scribe, { update, speaker }: UpdateFrame, kind: 'message' | 'reasoning'): string {
  const chunk = Chunk.safeParse(update).data;
  if (chunk === undefined) return '';
  if (scribe.state.turn !== 'open') return 'text outside of the turn';
  const nativeId = chunk.messageId ?? null;
  if (scribe.state.isFailing && kind === 'message' && nativeId === null) {
    return "the turn's failure in the place of a text: the run's end says it";
  }
  if (chunk.content.type !== 'text') return `content of type ${previewText(chunk.content.type, 50)} is not shown`;
  startHeldTools(scribe);
  const parent = chunk['_meta']?.claudeCode?.parentToolUseId;
  const own = parent == null ? speaker : scribe.childSpeaker(parent);
  return sayChunk(scribe, own, { kind, nativeId, text: chunk.content.text ?? '' });
}

function sayTool(scribe: Scribe, { update, speaker, kept }: UpdateFrame): string {
  const call = ToolUpdate.safeParse(update).data;
  if (call === undefined) return '';
  const parent = call['_meta']?.claudeCode?.parentToolUseId;
  const own = parent == null ? speaker : scribe.childSpeaker(parent);
  if (entryOf(scribe.state.tools, call.toolCallId) === undefined) startHeldTools(scribe);
  return sayToolUpdate(scribe, own, call, { kept, isRequest: false });
}

function sayPlan(scribe: Scribe, speaker: Speaker, entries: unknown): string {
  const plan = planOf(entries);
  if (plan === null) return 'a plan without entries';
  turnToNext(scribe, speaker);
  scribe.say(speaker, plan);
  return '';
}

function sayNamedPlan(scribe: Scribe, speaker: Speaker, plan: unknown): string {
  if (typeof plan !== 'object' || plan === null) return '';
  if ('entries' in plan) return sayPlan(scribe, speaker, plan.entries);
  if (!('content' in plan) || typeof plan.content !== 'string') return 'a plan that is kept in a file';
  scribe.say(speaker, { kind: 'session.metadata', metadata: { plan: previewText(plan.content, PREVIEW_LIMIT_CHARS) } });
  return '';
}

function sayMode(scribe: Scribe, mode: unknown): string {
  return typeof mode === 'string' ? saySetting(scribe, { mode }) : '';
}

function sayOptions(scribe: Scribe, update: unknown): string {
  const session = SessionState.safeParse(update).data;
  return session === undefined ? '' : saySettings(scribe, session);
}

/** A title, or what codex-acp tells of its thread beside the protocol. */
function sayInfo(scribe: Scribe, update: unknown): string {
  const info = SessionInfo.safeParse(update).data;
  if (info === undefined) return '';
  const codex = info['_meta']?.codex;
  if (info.title != null) {
    const metadata = { title: previewText(info.title, 500) };
    scribe.say(scribe.self, { kind: 'session.metadata', metadata });
  }
  if (codex?.threadStatus != null) scribe.remember({ isFailing: codex.threadStatus.type === 'systemError' });
  if (codex?.error == null) return 'bookkeeping of a session';
  const { message, additionalDetails, willRetry } = codex.error;
  const text = previewText(
    [message, additionalDetails].filter((part) => part != null && part !== '').join(': '),
    1_000,
  );
  scribe.say(
    scribe.self,
    willRetry === true
      ? { kind: 'harness.warning', message: text, code: 'model_retried' }
      : { kind: 'harness.error', message: text, fatal: false },
  );
  return '';
}

function sayNotice(scribe: Scribe, speaker: Speaker, update: unknown): string {
  const notice = Notice.safeParse(update).data;
  if (notice === undefined) return '';
  const { severity, title, description } = notice;
  const message = previewText(description == null ? title : `${title}: ${description}`, PREVIEW_LIMIT_CHARS);
  scribe.say(
    speaker,
    severity === 'error' ? { kind: 'harness.error', message, fatal: false } : { kind: 'harness.warning', message },
  );
  return '';
}

function sayCompaction(scribe: Scribe, speaker: Speaker, update: unknown): string {
  const compaction = Compaction.safeParse(update).data;
  if (compaction === undefined) return '';
  const { compactionId, status, summary, error } = compaction;
  const detail = error ?? blocksText(summary);
  turnToNext(scribe, speaker);
  scribe.say(speaker, {
    kind: 'context.marker',
    markerType: 'memory',
    title: `compaction of the conversation: ${status}`,
    ...(detail == null ? {} : { detail: previewText(detail, PREVIEW_LIMIT_CHARS) }),
    sourceEventType: 'compaction_update',
    sourcePayload: { compactionId, status },
  });
  return '';
}
