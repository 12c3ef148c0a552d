import {
  textOf,
  type AssistantMessage,
  type Message,
  type ToolResultMessage,
  type UserMessage,
} from './agent-messages.ts';
import { ERROR_CODES, type ErrorCode } from './errors.ts';
import { previewText, type NativeFrame } from './frames.ts';
import { cleanText } from './sanitize.ts';
import { frameOfResult, framesOfAssistant } from './session-frames.ts';

/** A step of a turn that was held elsewhere: one message, and the frames that it is in the lane. */
export interface SessionStep {
  readonly stepIndex: number;
  readonly kind: 'model' | 'tool';
  readonly label: string;
  readonly status: 'completed' | 'failed' | 'cancelled';
  readonly message: AssistantMessage | ToolResultMessage;
  readonly frames: readonly NativeFrame[];
}

export type TurnEnding =
  | { readonly status: 'completed'; readonly stopReason: 'stop' | 'length' }
  | { readonly status: 'failed'; readonly stopReason: 'cancelled' }
  | {
      readonly status: 'failed';
      readonly stopReason: 'error';
      readonly error: { readonly code: ErrorCode; readonly message: string };
    };

/** What a user said and all that followed: one run. */
export interface SessionTurn {
  readonly input: UserMessage;
  readonly steps: readonly SessionStep[];
  readonly ending: TurnEnding;
  /** `provider/model` of the last answer; null where it does not say. */
  readonly model: string | null;
}

/**
 * A conversation as runs, one for each message of a user.
 *
 * **Contract:** every message is in exactly one turn, in order. Steps are numbered as the built-in engine does: model step k, its
 * calls k+1 …. Expects what `examineSession` finds nothing fatal in, and that a user speaks first.
 */
export function turnsOfHistory(messages: readonly Message[]): SessionTurn[] {
  const turns: { input: UserMessage; rest: (AssistantMessage | ToolResultMessage)[] }[] = [];
  for (const message of messages) {
    if (message.role === 'user') turns.push({ input: message, rest: [] });
    else if (turns.length === 0) throw new Error('a conversation begins with a user’s message');
    else turns.at(-1)?.rest.push(message);
  }
  return turns.map(({ input, rest }) => {
    const answers = rest.filter((message) => message.role === 'assistant');
    return { input, steps: stepsOf(rest), ending: endingOf(rest), model: modelOf(answers.at(-1)) };
  });
}

function stepsOf(messages: readonly (AssistantMessage | ToolResultMessage)[]): SessionStep[] {
  const stepOfCall = new Map<string, number>();
  const used: Record<string, number> = {};
  let next = 0;
  return messages.map((message): SessionStep => {
    if (message.role === 'tool-result') {
      const { toolCallId, toolName, isError } = message;
      const stepIndex = stepOfCall.get(toolCallId);
      if (stepIndex === undefined) throw new Error(`the result of ${toolCallId} is in another turn than its call`);
      const status = isError ? 'failed' : 'completed';
      return { stepIndex, kind: 'tool', label: toolName, status, message, frames: [frameOfResult(message)] };
    }
    const stepIndex = next++;
    for (const block of message.content) if (block.type === 'tool-call') stepOfCall.set(block.id, next++);
    const status = STATUS_OF[message.stopReason ?? 'stop'];
    for (const [counter, tokens] of Object.entries(message.usage ?? {}))
      used[counter] = (used[counter] ?? 0) + (tokens ?? 0);
    const total = message.usage === undefined ? undefined : { ...used };
    const frames = framesOfAssistant(message, total);
    return { stepIndex, kind: 'model', label: modelOf(message) ?? 'unknown', status, message, frames };
  });
}

const STATUS_OF = {
  stop: 'completed',
  length: 'completed',
  'tool-use': 'completed',
  error: 'failed',
  aborted: 'cancelled',
} as const;

/** A turn that nobody ended was left in the middle: it counts as cancelled. */
function endingOf(messages: readonly (AssistantMessage | ToolResultMessage)[]): TurnEnding {
  const last = messages.at(-1);
  if (last?.role !== 'assistant') return { status: 'failed', stopReason: 'cancelled' };
  const { stopReason = 'stop', content, error, errorMessage = 'the model call failed' } = last;
  if (stopReason === 'error') {
    const code = ERROR_CODES.find((known) => known === error?.code) ?? 'engine_failed';
    return { status: 'failed', stopReason, error: { code, message: cleanText(previewText(errorMessage, 2_000)) } };
  }
  const isCut =
    stopReason === 'aborted' || stopReason === 'tool-use' || content.some((block) => block.type === 'tool-call');
  if (isCut) return { status: 'failed', stopReason: 'cancelled' };
  return { status: 'completed', stopReason };
}

function modelOf(message: AssistantMessage | undefined): string | null {
  if (message?.model === undefined) return null;
  const name = message.provider === undefined ? message.model : `${message.provider}/${message.model}`;
  return cleanText(previewText(name, 200));
}

/** The text of a turn's input, as a run's input. */
export function inputTextOf({ input }: SessionTurn): string {
  return textOf(input.content);
}
