import { piecesOf, TEXT_LIMIT_CHARS } from '../wire/frame-fit.ts';
import type { WireFrame } from '../wire/wire-frame.ts';
import type { ClaudeMessage } from './claude-frames.ts';
import { AssistantMessage, Scope, StreamEvent } from './claude-schema.ts';

/** Of so many answers of the model it is known that they came in pieces. */
const REMEMBERED = 200;
const FIELDS = { text_delta: 'text', thinking_delta: 'thinking' } as const;

/**
 * Cuts long texts into pieces that frames can hold: a piece that is long itself, and a text that was told only whole, as those of
 * sub-agents are. Of such a text the pieces come first, as the program would have streamed them.
 */
export class TextPieces {
  readonly #inPieces = new Set<string>();
  /** The answer that each speaker is giving. */
  readonly #answering = new Map<string, string>();

  /** The frames of a message; the last is its own. */
  framesOf(frame: WireFrame, message: ClaudeMessage): WireFrame[] {
    const speaker = Scope.safeParse(message).data?.parent_tool_use_id ?? '';
    if (message['type'] === 'stream_event') return this.#streamed(frame, message, speaker);
    return message['type'] === 'assistant' ? [...this.#untold(frame, message), frame] : [frame];
  }

  #streamed(frame: WireFrame, message: ClaudeMessage, speaker: string): WireFrame[] {
    const event = StreamEvent.safeParse(message).data?.event;
    if (event?.type === 'message_start') this.#answering.set(speaker, event.message?.id ?? '');
    const delta = event?.delta;
    if (event === undefined || (delta?.type !== 'text_delta' && delta?.type !== 'thinking_delta')) return [frame];
    const field = FIELDS[delta.type];
    this.#remember(`${field} ${this.#answering.get(speaker) ?? ''}`);
    if (delta[field].length <= TEXT_LIMIT_CHARS) return [frame];
    const { type, index } = event;
    return piecesOf(delta[field]).map((piece) => {
      return { ...frame, params: { ...message, event: { type, index, delta: { type: delta.type, [field]: piece } } } };
    });
  }

  #untold({ dir }: WireFrame, message: ClaudeMessage): WireFrame[] {
    const told = AssistantMessage.safeParse(message).data?.message;
    if (told === undefined || typeof told.content === 'string') return [];
    const { id } = told;
    const { parent_tool_use_id: parent, session_id: sessionId } = message;
    const streamed = (event: { readonly type: string }): WireFrame => {
      const params = { type: 'stream_event', event, parent_tool_use_id: parent, session_id: sessionId };
      return { type: `stream_event/${event.type}`, dir, params };
    };
    const pieces = told.content.flatMap(({ type, text, thinking }, index) => {
      const deltaType = type === 'text' ? 'text_delta' : 'thinking_delta';
      const field = FIELDS[deltaType];
      const whole = type === 'text' ? text : type === 'thinking' ? thinking : '';
      if (whole.length <= TEXT_LIMIT_CHARS || this.#inPieces.has(`${field} ${id}`)) return [];
      return piecesOf(whole).map((piece) =>
        streamed({ type: 'content_block_delta', ...{ index, delta: { type: deltaType, [field]: piece } } }),
      );
    });
    return pieces.length === 0 ? [] : [streamed({ type: 'message_start', ...{ message: { id } } }), ...pieces];
  }

  #remember(answer: string): void {
    this.#inPieces.delete(answer);
    this.#inPieces.add(answer);
    const [oldest] = this.#inPieces;
    if (this.#inPieces.size > REMEMBERED && oldest !== undefined) this.#inPieces.delete(oldest);
  }
}
