import type { StopReason, Usage } from '../../../../contract/agent-messages.ts';
import type { AnswerReader } from './answer-reader.ts';
import type { Outcome } from './conclude.ts';
import { FILTERED } from './failure.ts';
import type { MessageAssembler } from './message-assembler.ts';
import type { ProviderEvent } from './provider.ts';
import { ReportedFault } from './reported-fault.ts';
import { countOf, listOf, recordOf, stringOf, type JsonRecord } from './untrusted-json.ts';

/** The contract's stop reason for the Messages API's (source facts C.4); a full context is a bound on tokens too. */
export function mapStopReason(reason: string | null): StopReason {
  switch (reason) {
    case null:
    case '':
    case 'end_turn':
    case 'pause_turn':
    case 'stop_sequence':
      return 'stop';
    case 'max_tokens':
    case 'model_context_window_exceeded':
      return 'length';
    case 'tool_use':
      return 'tool-use';
    default:
      return 'error';
  }
}

/** Reads the Messages API: blocks by their index, the reason in `message_delta`, the end in `message_stop`. */
export class AnthropicAnswer implements AnswerReader {
  readonly #assembler: MessageAssembler;
  #stopReason: string | null = null;
  #counters: JsonRecord = {};
  progress: AnswerReader['progress'] = 'open';

  constructor(assembler: MessageAssembler) {
    this.#assembler = assembler;
  }

  get outcome(): Outcome | null {
    return this.progress === 'open' ? null : outcomeOf(this.#stopReason);
  }

  get usage(): Usage | undefined {
    return usageOf(this.#counters);
  }

  read(value: unknown): ProviderEvent[] {
    const event = recordOf(value);
    if (event === null) throw new TypeError('an event of the stream is not a JSON object');
    const index = countOf(event['index']) ?? 0;
    switch (event['type']) {
      case 'message_start':
        this.#count(recordOf(event['message'])?.['usage']);
        return [];
      case 'content_block_start':
        return this.#begin(index, recordOf(event['content_block']) ?? {});
      case 'content_block_delta':
        return this.#extend(index, recordOf(event['delta']) ?? {});
      case 'content_block_stop':
        return this.#assembler.endProse();
      case 'message_delta':
        this.#count(event['usage']);
        this.#stopReason = stringOf(recordOf(event['delta'])?.['stop_reason']) || this.#stopReason;
        if (this.#stopReason !== null && this.progress === 'open') this.progress = 'finished';
        return [];
      case 'message_stop':
        this.progress = 'ended';
        return [];
      case 'error':
        throw new ReportedFault(event['error'] ?? event);
      default:
        return [];
    }
  }

  readWhole(value: unknown): ProviderEvent[] {
    const body = recordOf(value);
    if (body === null) throw new TypeError('an answer is not a JSON object');
    if (body['type'] === 'error') throw new ReportedFault(body['error']);
    this.#count(body['usage']);
    const events = listOf(body['content']).flatMap((block, index) => [
      ...this.#begin(index, recordOf(block) ?? {}),
      ...this.#assembler.endProse(),
    ]);
    this.#stopReason = stringOf(body['stop_reason']) || null;
    this.progress = 'ended';
    return events;
  }

  #begin(index: number, block: JsonRecord): ProviderEvent[] {
    const key = String(index);
    switch (block['type']) {
      case 'text':
        return this.#assembler.say('text', stringOf(block['text']), { key });
      case 'thinking':
        return [
          ...this.#assembler.say('thinking', stringOf(block['thinking']), { key }),
          ...this.#assembler.sign(key, stringOf(block['signature'])),
        ];
      case 'redacted_thinking':
        return this.#assembler.redact(key, stringOf(block['data']));
      case 'tool_use': {
        const input = recordOf(block['input']) ?? {};
        return this.#assembler.call({
          index,
          id: stringOf(block['id']),
          name: stringOf(block['name']),
          args: Object.keys(input).length === 0 ? '' : JSON.stringify(input),
        });
      }
      default:
        return [];
    }
  }

  #extend(index: number, delta: JsonRecord): ProviderEvent[] {
    const key = String(index);
    switch (delta['type']) {
      case 'text_delta':
        return this.#assembler.say('text', stringOf(delta['text']), { key });
      case 'thinking_delta':
        return this.#assembler.say('thinking', stringOf(delta['thinking']), { key });
      case 'signature_delta':
        return this.#assembler.sign(key, stringOf(delta['signature']));
      case 'input_json_delta':
        return this.#assembler.call({ index, id: '', name: '', args: stringOf(delta['partial_json']) });
      default:
        return [];
    }
  }

  /** Counters are running totals: the newest of each counts, and null is none. */
  #count(value: unknown): void {
    const given = Object.entries(recordOf(value) ?? {}).filter(([, count]) => countOf(count) !== null);
    this.#counters = { ...this.#counters, ...Object.fromEntries(given) };
  }
}

function outcomeOf(reason: string | null): Outcome {
  const stopReason = mapStopReason(reason);
  if (stopReason !== 'error' && stopReason !== 'aborted') return { kind: 'answered', stopReason };
  if (reason === 'refusal' || reason === 'sensitive') return { kind: 'refused', failure: FILTERED };
  const message = `the provider stopped the answer: ${String(reason)}`;
  return { kind: 'refused', failure: { code: 'provider_rejected', retryable: false, message } };
}

/** `input_tokens` holds neither what a cache gave nor what was put into one. */
function usageOf(counters: JsonRecord): Usage | undefined {
  const input = countOf(counters['input_tokens']);
  const output = countOf(counters['output_tokens']);
  const cacheRead = countOf(counters['cache_read_input_tokens']);
  const cacheWrite = countOf(counters['cache_creation_input_tokens']);
  if (input === null && output === null) return undefined;
  return {
    ...(input === null ? {} : { input }),
    ...(output === null ? {} : { output }),
    ...(cacheRead === null ? {} : { cacheRead }),
    ...(cacheWrite === null ? {} : { cacheWrite }),
    totalTokens: (input ?? 0) + (output ?? 0) + (cacheRead ?? 0) + (cacheWrite ?? 0),
  };
}
