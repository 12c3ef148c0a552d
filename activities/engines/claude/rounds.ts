import { z } from 'zod';
import type { CanonicalBody } from '../../../contract/canonical.ts';
import { ResultMessage } from './claude-schema.ts';
import { answerEnded } from './texts.ts';
import { toolStarted } from './tools.ts';
import { quiet, saying, unread, type ClaudeState, type Step } from './translation-state.ts';
import { roundCounted } from './usage.ts';

const Asked = z.object({
  request: z.object({ tool_name: z.string(), tool_use_id: z.string().min(1), input: z.unknown().optional() }),
});
const Progress = z.object({
  tool_use_id: z.string().min(1),
  elapsed_time_seconds: z.number().nonnegative().catch(0),
});
const Printed = z.object({ content: z.string(), uuid: z.string().min(1) });

/** The platform asks; here only the tool is said, for the case that it was not. */
export function permissionAsked(state: ClaudeState, params: unknown): Step {
  const asked = Asked.safeParse(params).data?.request;
  if (asked === undefined) return unread(state);
  return saying(state, [toolStarted(asked.tool_use_id, asked.tool_name, asked.input)]);
}

/**
 * The end of a round. What it used is said; how the turn ended is the platform's to say. A command that the program carries out
 * itself has its answer only here.
 */
export function resultTold(before: ClaudeState, params: unknown): Step {
  const result = ResultMessage.safeParse(params).data;
  if (result === undefined) return unread(before);
  const ended = answerEnded(before, { childId: null });
  const { state, bodies } = roundCounted(ended.state, result);
  const isUnsaid = !state.hasText && !result.is_error && result.result !== '' && result.uuid !== '';
  const text = isUnsaid ? messageOf(result.uuid, result.result) : [];
  return saying({ ...state, hasText: false }, [...ended.bodies, ...text, ...bodies], 'the platform says how it ended');
}

/** What a command of the program prints. */
export function commandPrinted(state: ClaudeState, params: unknown): Step {
  const printed = Printed.safeParse(params).data;
  if (printed === undefined) return unread(state);
  return saying({ ...state, hasText: true }, messageOf(printed.uuid, printed.content), 'it printed nothing');
}

export function toolAtWork(state: ClaudeState, params: unknown): Step {
  const progress = Progress.safeParse(params).data;
  if (progress === undefined) return unread(state);
  const { tool_use_id: toolCallId, elapsed_time_seconds: seconds } = progress;
  if (seconds === 0) return quiet(state, 'it has just begun');
  return saying(state, [
    { kind: 'tool.progress', toolCallId, nativeStatus: 'running', durationMs: Math.round(seconds * 1_000) },
  ]);
}

function messageOf(messageId: string, text: string): CanonicalBody[] {
  if (text === '') return [];
  return [
    { kind: 'message.delta', messageId, text },
    { kind: 'message.completed', messageId },
  ];
}
