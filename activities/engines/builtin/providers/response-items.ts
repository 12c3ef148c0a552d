import type { MessageAssembler } from './message-assembler.ts';
import type { ProviderEvent } from './provider.ts';
import { signatureOf } from './reasoning-item.ts';
import { countOf, listOf, recordOf, stringOf, type JsonRecord } from './untrusted-json.ts';

/** Between the parts of a reasoning summary, which are paragraphs. */
const PARAGRAPH = '\n\n';

/**
 * The output items of a response as they are streamed, each under its `output_index`.
 *
 * **Contract:** a text is said once, however often the stream repeats it: an item's end, and the response's, say only what
 * its deltas have left out.
 */
export class ResponseItems {
  readonly #assembler: MessageAssembler;
  readonly #said = new Map<number, string>();
  readonly #done = new Set<number>();

  constructor(assembler: MessageAssembler) {
    this.#assembler = assembler;
  }

  read(event: JsonRecord): ProviderEvent[] {
    const index = countOf(event['output_index']) ?? 0;
    const delta = stringOf(event['delta']);
    switch (event['type']) {
      case 'response.output_item.added':
        return this.#begin(index, recordOf(event['item']) ?? {});
      case 'response.output_text.delta':
      case 'response.refusal.delta':
        return this.#say('text', index, delta);
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        return this.#say('thinking', index, delta);
      case 'response.reasoning_summary_part.added':
        return this.#said.has(index) ? this.#say('thinking', index, PARAGRAPH) : [];
      case 'response.function_call_arguments.delta':
        return this.#call(index, { delta });
      case 'response.output_item.done':
        return this.finish(index, recordOf(event['item']) ?? {});
      default:
        return [];
    }
  }

  /** The item is whole. */
  finish(index: number, item: JsonRecord): ProviderEvent[] {
    if (this.#done.has(index)) return [];
    this.#done.add(index);
    const rest = (whole: string): string => {
      const said = this.#said.get(index) ?? '';
      return whole.startsWith(said) ? whole.slice(said.length) : '';
    };
    switch (item['type']) {
      case 'message':
        return [...this.#say('text', index, rest(messageText(item))), ...this.#assembler.endProse()];
      case 'reasoning':
        return [
          ...this.#say('thinking', index, rest(reasoningText(item))),
          ...this.#assembler.sign(String(index), signatureOf(item)),
          ...this.#assembler.endProse(),
        ];
      case 'function_call':
        return this.#call(index, { item, delta: rest(stringOf(item['arguments'])) });
      default:
        return [];
    }
  }

  #begin(index: number, item: JsonRecord): ProviderEvent[] {
    return item['type'] === 'function_call' ? this.#call(index, { item, delta: stringOf(item['arguments']) }) : [];
  }

  #say(type: 'text' | 'thinking', index: number, piece: string): ProviderEvent[] {
    this.#note(index, piece);
    return this.#assembler.say(type, piece, { key: String(index) });
  }

  #call(index: number, { item = {}, delta }: { item?: JsonRecord; delta: string }): ProviderEvent[] {
    this.#note(index, delta);
    return this.#assembler.call({
      index,
      id: stringOf(item['call_id']),
      name: stringOf(item['name']),
      args: delta,
    });
  }

  #note(index: number, piece: string): void {
    if (piece !== '') this.#said.set(index, (this.#said.get(index) ?? '') + piece);
  }
}

function messageText(item: JsonRecord): string {
  const parts = listOf(item['content']).map((part) => recordOf(part) ?? {});
  return parts.map((part) => stringOf(part['text']) || stringOf(part['refusal'])).join('');
}

/** The summary; an open model gives its reasoning itself. */
function reasoningText(item: JsonRecord): string {
  const texts = (field: string): string[] => listOf(item[field]).map((part) => stringOf(recordOf(part)?.['text']));
  return texts('summary').join(PARAGRAPH) || texts('content').join('');
}
