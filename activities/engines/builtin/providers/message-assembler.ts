import type { AssistantContent, ToolCall } from '../../../../contract/agent-messages.ts';
import type { CallOptions, ProviderEvent } from './provider.ts';
import { SurrogateJoiner } from './surrogate-joiner.ts';
import { readArguments, storable } from './tool-arguments.ts';
import { extend, ToolCallSlots, type ToolCallDelta, type ToolCallSlot } from './tool-call-slots.ts';

interface Prose {
  readonly type: 'text' | 'thinking';
  readonly key: string;
  readonly contentIndex: number;
  readonly joiner: SurrogateJoiner;
  readonly isRedacted: boolean;
  said: string;
  signature: string;
}

/** Where a piece of prose belongs. */
export interface Place {
  /** The provider's name of the block, where it names blocks: pieces of different names are never joined. */
  readonly key?: string;
  /** What goes back to the provider with a thinking block. */
  readonly signature?: string;
}

interface Call {
  readonly type: 'tool-call';
  readonly joiner: SurrogateJoiner;
  readonly slot: ToolCallSlot;
  readonly ordinal: number;
}

/**
 * Builds one assistant message from a stream's pieces and says the events for each (extension contracts, "Events").
 *
 * **Contract:** text and reasoning blocks are open one at a time; tool calls stay open, side by side, until `close`. An
 * empty piece says nothing. The content is what the deltas said, joined.
 */
export class MessageAssembler {
  readonly #toolCallId: CallOptions['toolCallId'];
  readonly #blocks: (Prose | Call)[] = [];
  readonly #slots = new ToolCallSlots();
  #open: Prose | null = null;

  constructor(toolCallId: CallOptions['toolCallId']) {
    this.#toolCallId = toolCallId;
  }

  get hasToolCalls(): boolean {
    return this.#slots.all.length > 0;
  }

  say(type: Prose['type'], piece: string, { key = '', signature = '' }: Place = {}): ProviderEvent[] {
    if (piece === '') return [];
    if (this.#open?.type === type && this.#open.key === key) {
      return prose(this.#open, this.#open.joiner.push(piece));
    }
    const events = this.#begin({ type, key, signature, isRedacted: false });
    const begun = this.#open;
    return begun === null ? events : [...events, ...prose(begun, begun.joiner.push(piece))];
  }

  /** The signature of the thinking block of that name; one that showed no text becomes an empty block. */
  sign(key: string, signature: string): ProviderEvent[] {
    if (signature === '') return [];
    const block = this.#blocks.findLast((item) => item.type === 'thinking' && item.key === key);
    if (block?.type !== 'thinking') return this.#begin({ type: 'thinking', key, signature, isRedacted: false });
    block.signature = storable(signature);
    return [];
  }

  /** A thinking block that the provider shows to nobody: only its sealed data goes back. */
  redact(key: string, data: string): ProviderEvent[] {
    if (data === '') return [];
    return [...this.#begin({ type: 'thinking', key, signature: data, isRedacted: true }), ...this.endProse()];
  }

  /** The provider has ended its block: what comes next is another one. */
  endProse(): ProviderEvent[] {
    const block = this.#open;
    if (block === null) return [];
    this.#open = null;
    const { type, contentIndex } = block;
    return [...prose(block, block.joiner.end()), { type: `${type}-end`, contentIndex, content: block.said }];
  }

  call(delta: ToolCallDelta): ProviderEvent[] {
    const events = this.endProse();
    let slot = this.#slots.find(delta);
    if (slot === null) {
      slot = this.#slots.open(delta, this.#blocks.length);
      const ordinal = this.#slots.all.length - 1;
      this.#blocks.push({ type: 'tool-call', joiner: new SurrogateJoiner(), slot, ordinal });
      events.push({ type: 'tool-call-start', contentIndex: slot.contentIndex });
    }
    extend(slot, delta);
    const block = this.#blocks[slot.contentIndex];
    const text = block?.joiner.push(delta.args) ?? '';
    if (text !== '') events.push({ type: 'tool-call-delta', contentIndex: slot.contentIndex, delta: text });
    return events;
  }

  /** Ends the blocks that are open; tool calls only where the answer ended well. */
  close(includeToolCalls: boolean): ProviderEvent[] {
    const events = this.endProse();
    for (const block of this.#blocks) {
      if (block.type !== 'tool-call' || !includeToolCalls) continue;
      const { contentIndex } = block.slot;
      const rest = block.joiner.end();
      if (rest !== '') events.push({ type: 'tool-call-delta', contentIndex, delta: rest });
      events.push({ type: 'tool-call-end', contentIndex, toolCall: this.#toolCall(block) });
    }
    return events;
  }

  content(includeToolCalls: boolean): AssistantContent[] {
    return this.#blocks.flatMap((block): AssistantContent[] => {
      if (block.type === 'text') return [{ type: 'text', text: block.said }];
      if (block.type === 'tool-call') return includeToolCalls ? [this.#toolCall(block)] : [];
      const { said, signature, isRedacted } = block;
      return [
        {
          type: 'thinking',
          thinking: said,
          ...(signature === '' ? {} : { thinkingSignature: signature }),
          ...(isRedacted ? { redacted: true } : {}),
        },
      ];
    });
  }

  #begin({
    type,
    key,
    signature,
    isRedacted,
  }: Pick<Prose, 'type' | 'key' | 'signature' | 'isRedacted'>): ProviderEvent[] {
    const events = this.endProse();
    const contentIndex = this.#blocks.length;
    const joiner = new SurrogateJoiner();
    this.#open = { type, key, contentIndex, joiner, isRedacted, said: '', signature: storable(signature) };
    this.#blocks.push(this.#open);
    return [...events, { type: `${type}-start`, contentIndex }];
  }

  #toolCall({ slot, ordinal }: Call): ToolCall {
    return {
      type: 'tool-call',
      id: this.#toolCallId(ordinal),
      name: storable(slot.name),
      ...readArguments(slot.json),
      ...(slot.nativeId === '' ? {} : { nativeId: storable(slot.nativeId) }),
    };
  }
}

function prose(block: Prose, delta: string): ProviderEvent[] {
  if (delta === '') return [];
  block.said += delta;
  return [{ type: `${block.type}-delta`, contentIndex: block.contentIndex, delta }];
}
