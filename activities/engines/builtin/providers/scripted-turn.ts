import { textOf, type Message, type Usage } from '../../../../contract/agent-messages.ts';
import { previewText } from '../../../../contract/frames.ts';
import type { Failure } from './failure.ts';
import type { Scenario, Turn } from './scenario.ts';
import type { ToolCallDelta } from './tool-call-slots.ts';

const INPUT_CHARS = 400;
const RESULT_CHARS = 1_000;

/** A turn ready to be spoken, piece by piece. */
export interface Played {
  readonly pieces: readonly Piece[];
  readonly usage: Usage;
  readonly error?: Failure;
}

export type Piece = { readonly delayMs: number } & (
  | { readonly type: 'text' | 'thinking'; readonly text: string }
  | { readonly type: 'tool-call'; readonly call: ToolCallDelta }
);

/** The turn that follows a conversation: as many turns have been played as the assistant has spoken since the user did. */
export function playTurn(scenario: Scenario, messages: readonly Message[]): Played {
  const lastUser = messages.findLastIndex((message) => message.role === 'user');
  const since = messages.slice(lastUser + 1);
  const played = since.filter((message) => message.role === 'assistant' && message.stopReason !== 'error').length;
  const turn: Turn = scenario.turns[Math.min(played, scenario.turns.length - 1)] ?? {};
  const result = since.findLast((message) => message.role === 'tool-result');
  const speech = result?.isError === true ? (turn.onToolError ?? turn) : turn;

  const fill = (text: string) =>
    text.replaceAll(/\{\{(input|last_tool_result)\}\}/g, (_whole, name: string) =>
      name === 'input'
        ? previewText(inputOf(messages[lastUser]), INPUT_CHARS)
        : previewText(textOf(result?.content ?? ''), RESULT_CHARS),
    );
  const delayMs = scenario.chunkDelayMs;
  const prose = (type: 'text' | 'thinking', text: string | readonly string[] = []): Piece[] =>
    (typeof text === 'string' ? words(fill(text)) : text.map(fill)).map((piece) => ({ type, delayMs, text: piece }));
  const calls = (speech.toolCalls ?? []).map((call, index): Piece => {
    const args = JSON.stringify(fillAll(call.arguments, fill));
    return { type: 'tool-call', delayMs, call: { index, id: '', name: call.name, args } };
  });
  const pieces = [...prose('thinking', speech.reasoning), ...prose('text', speech.text), ...calls];
  return {
    pieces: pieces.map((piece, n) => (n === 0 ? { ...piece, delayMs: turn.delayMs ?? delayMs } : piece)),
    usage: estimate(messages, pieces),
    ...(turn.error === undefined ? {} : { error: turn.error }),
  };
}

function inputOf(message: Message | undefined): string {
  return message?.role === 'user' ? textOf(message.content) : '';
}

/** Words with the white space after them; joined they are the text. */
function words(text: string): string[] {
  return text.match(/\s*\S+\s*/g) ?? [];
}

function fillAll(value: unknown, fill: (text: string) => string): unknown {
  if (typeof value === 'string') return fill(value);
  if (Array.isArray(value)) return value.map((item) => fillAll(item, fill));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fillAll(item, fill)]));
}

/** There are no tokens here; a quarter of the characters is what they would be about. */
function estimate(messages: readonly Message[], pieces: readonly Piece[]): Usage {
  const input = Math.ceil(JSON.stringify(messages).length / 4);
  const said = pieces.map((piece) => (piece.type === 'tool-call' ? piece.call.args : piece.text)).join('');
  const output = Math.ceil(said.length / 4);
  return { input, output, totalTokens: input + output };
}
