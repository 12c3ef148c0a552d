import type { CanonicalBody } from '../../../contract/canonical.ts';
import { previewText, utf8Bytes, type NativeFrame } from '../../../contract/frames.ts';
import { PREVIEW_LIMIT_CHARS } from '../../../contract/platform-frames.ts';
import { MessageFrame, textOf, UpdateFrame, type Message, type Usage } from './pi-schema.ts';
import { blockBegun, blockEnded, closeBlocks, messageBegun, textDelta } from './text-blocks.ts';
import { toolStarted } from './tools.ts';
import { quiet, saying, unread, type PiState, type Step, type Used } from './translation-state.ts';

const INPUT_CHARS = 8_000;
/** Two inputs that begin alike are one input here. */
export const INPUT_KNOWN_BY_CHARS = 500;
const COST_PRECISION = 1e9;

export function messageStarted(state: PiState, frame: NativeFrame): Step {
  const message = MessageFrame.safeParse(frame).data?.message;
  if (message === undefined) return unread(state);
  return message.role === 'assistant' ? messageBegun(state) : quiet(state, 'a message is said when it is whole');
}

/** A piece of the model's message. */
export function messageUpdated(state: PiState, frame: NativeFrame): Step {
  const parsed = UpdateFrame.safeParse(frame);
  if (!parsed.success) return unread(state);
  const { type, contentIndex: index, delta: text, toolCall } = parsed.data.assistantMessageEvent;
  switch (type) {
    case 'text_start':
      return blockBegun(state, index, 'message');
    case 'thinking_start':
      return blockBegun(state, index, 'reasoning');
    case 'text_delta':
      return textDelta(state, { index, kind: 'message', text });
    case 'thinking_delta':
      return textDelta(state, { index, kind: 'reasoning', text });
    case 'text_end':
    case 'thinking_end':
      return blockEnded(state, index);
    case 'toolcall_start': {
      const { state: closed, bodies } = closeBlocks(state);
      return saying(closed, bodies, 'a call is said when it is whole');
    }
    case 'toolcall_delta':
      return quiet(state, 'a call is said when it is whole');
    case 'toolcall_end': {
      if (toolCall == null) return unread(state);
      const { id: toolCallId, name: toolName, arguments: args } = toolCall;
      const next = { ...state, calls: [...state.calls, toolCallId] };
      return saying(next, [toolStarted({ toolCallId, toolName, args })]);
    }
    case 'start':
    case 'done':
    case 'error':
      return quiet(state, 'the message says it');
    default:
      return unread(state);
  }
}

export function messageEnded(state: PiState, frame: NativeFrame): Step {
  const message = MessageFrame.safeParse(frame).data?.message;
  if (message === undefined) return unread(state);
  switch (message.role) {
    case 'assistant':
      return assistantEnded(state, message);
    case 'user':
      return inputTaken(state, message);
    case 'custom':
      return saying(state, message.display ? [addition(message)] : [], 'an extension shows it to the model alone');
    case 'toolResult':
      return quiet(state, 'the end of the tool says it');
    case 'system':
      return quiet(state, 'what the engine tells its model');
    case 'bashExecution':
    case 'branchSummary':
    case 'compactionSummary':
      return quiet(state, 'bookkeeping of the conversation');
    default:
      return unread(state);
  }
}

/** Of a message that was cut off no call is run: they are closed with it. */
function assistantEnded(state: PiState, { stopReason, usage }: Message): Step {
  const { state: closed, bodies } = closeBlocks(state);
  const isCutOff = stopReason === 'error' || stopReason === 'aborted';
  const unrun = (isCutOff ? state.calls : []).map((toolCallId): CanonicalBody => {
    return { kind: 'tool.completed', toolCallId, status: 'error', error: 'its message was cut off: it was not run' };
  });
  const used = usage == null ? state.used : sum(state.used, usage);
  const isMore = JSON.stringify(used) !== JSON.stringify(state.used);
  const next = { ...closed, calls: [], used };
  return saying(next, [...bodies, ...unrun, ...(isMore ? [usageOf(used)] : [])], 'a message without text');
}

/** The first message after a prompt is that prompt; any other was queued while the run was at work. */
function inputTaken(state: PiState, { content }: Message): Step {
  if (state.prompts > 0) return quiet({ ...state, prompts: state.prompts - 1 }, 'what the agent was told');
  const text = textOf(content);
  const inputs = state.inputs + 1;
  const body: CanonicalBody = {
    kind: 'turn.started',
    input: previewText(text, INPUT_CHARS),
    inputBytes: utf8Bytes(text),
    inputId: `pi-input-${String(inputs)}`,
    queue: state.followUps.includes(knownBy(text)) ? 'follow_up' : 'steering',
  };
  return saying({ ...state, inputs }, [body]);
}

/** By what a queued input is known again when it is taken. */
export function knownBy(text: string): string {
  return text.slice(0, INPUT_KNOWN_BY_CHARS);
}

/** What an extension adds to the conversation. */
function addition({ customType, content }: Message): CanonicalBody {
  return {
    kind: 'context.marker',
    markerType: 'knowledge',
    title: customType === '' ? 'an extension' : customType,
    detail: previewText(textOf(content), PREVIEW_LIMIT_CHARS),
    sourceEventType: 'message_end',
  };
}

/** pi counts what was read from a cache, or written to it, beside the rest. */
function sum(used: Used, { input, output, cacheRead, cacheWrite, cost }: Usage): Used {
  return {
    inputTokens: used.inputTokens + input + cacheRead + cacheWrite,
    cachedInputTokens: used.cachedInputTokens + cacheRead,
    outputTokens: used.outputTokens + output,
    costUsd: Math.round((used.costUsd + cost.total) * COST_PRECISION) / COST_PRECISION,
  };
}

/** A model whose price pi does not know costs nothing there: then none is said. */
function usageOf({ costUsd, ...tokens }: Used): CanonicalBody {
  return { kind: 'usage.updated', ...tokens, ...(costUsd === 0 ? {} : { costUsd }) };
}
