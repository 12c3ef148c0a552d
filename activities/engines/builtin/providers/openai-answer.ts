import type { StopReason, Usage } from '../../../../contract/agent-messages.ts';
import type { AnswerReader } from './answer-reader.ts';
import { FILTERED, type Failure } from './failure.ts';
import type { Outcome } from './conclude.ts';
import type { MessageAssembler } from './message-assembler.ts';
import type { ProviderEvent } from './provider.ts';
import { countOf, listOf, recordOf, stringOf, type JsonRecord } from './untrusted-json.ts';

/** The names under which servers give reasoning; a message's own is echoed when its turn goes on. */
export const REASONING_FIELDS = ['reasoning_content', 'reasoning', 'reasoning_text'] as const;

/** Reads Chat Completions: the first choice of a stream, or of a whole answer (`message` in place of `delta`). */
export class OpenAIAnswer implements AnswerReader {
  readonly #assembler: MessageAssembler;
  /** The provider's word for why it stopped; empty while it has not. */
  #finishReason = '';
  usage: Usage | undefined;

  constructor(assembler: MessageAssembler) {
    this.#assembler = assembler;
  }

  /** The usage may come after the reason. */
  get progress(): AnswerReader['progress'] {
    return this.#finishReason === '' ? 'open' : 'finished';
  }

  get outcome(): Outcome | null {
    return this.#finishReason === '' ? null : outcomeOf(this.#finishReason);
  }

  read(chunk: unknown): ProviderEvent[] {
    const body = recordOf(chunk);
    if (body === null) throw new TypeError('a chunk of the stream is not a JSON object');
    const choice = listOf(body['choices'])
      .map(recordOf)
      .find((item) => item !== null && (item['index'] ?? 0) === 0);
    this.usage = readUsage(body['usage']) ?? readUsage(choice?.['usage']) ?? this.usage;
    if (choice === null || choice === undefined) return [];
    const delta = recordOf(choice['delta']) ?? recordOf(choice['message']) ?? {};
    const events = [...readProse(delta, this.#assembler), ...readToolCalls(delta, this.#assembler)];
    this.#finishReason = stringOf(choice['finish_reason']) || this.#finishReason;
    return events;
  }

  /** A server that knows no streams may leave the reason out. */
  readWhole(body: unknown): ProviderEvent[] {
    const events = this.read(body);
    if (listOf(recordOf(body)?.['choices']).length > 0) this.#finishReason ||= 'stop';
    return events;
  }
}

/** The contract's stop reason for Chat Completions' `finish_reason` (source facts C.4). */
export function mapFinishReason(reason: string | null): StopReason {
  switch (reason) {
    case null:
    case '':
    case 'stop':
    case 'end':
      return 'stop';
    case 'length':
      return 'length';
    case 'tool_calls':
    case 'function_call':
      return 'tool-use';
    default:
      return 'error';
  }
}

/** How an answer ended that the provider itself ended. */
function outcomeOf(finishReason: string): Outcome {
  const stopReason = mapFinishReason(finishReason);
  if (stopReason !== 'error' && stopReason !== 'aborted') return { kind: 'answered', stopReason };
  return { kind: 'refused', failure: failureOfReason(finishReason) };
}

function failureOfReason(reason: string): Failure {
  if (reason === 'content_filter') return FILTERED;
  const message = `the provider stopped the answer: ${reason}`;
  const isFault = ['error', 'network_error', 'insufficient_system_resource'].includes(reason);
  return { code: isFault ? 'provider_unavailable' : 'provider_rejected', retryable: isFault, message };
}

function readProse(delta: JsonRecord, assembler: MessageAssembler): ProviderEvent[] {
  const field = REASONING_FIELDS.find((name) => stringOf(delta[name]) !== '');
  const events = field === undefined ? [] : assembler.say('thinking', stringOf(delta[field]), { signature: field });
  const content = delta['content'];
  for (const part of typeof content === 'string' ? [{ type: 'text', text: content }] : listOf(content)) {
    events.push(...readPart(recordOf(part) ?? {}, assembler));
  }
  events.push(...assembler.say('text', stringOf(delta['refusal'])));
  return events;
}

/** Some servers give content as typed parts; a thinking part holds text parts. */
function readPart(part: JsonRecord, assembler: MessageAssembler): ProviderEvent[] {
  if (part['type'] !== 'thinking') return assembler.say('text', stringOf(part['text']));
  const inner = listOf(part['thinking']).map((item) => stringOf(recordOf(item)?.['text']));
  return assembler.say('thinking', inner.join('') || stringOf(part['thinking']));
}

function readToolCalls(delta: JsonRecord, assembler: MessageAssembler): ProviderEvent[] {
  const legacy = recordOf(delta['function_call']);
  const calls = [...listOf(delta['tool_calls']), ...(legacy === null ? [] : [{ index: 0, function: legacy }])];
  return calls.flatMap((item) => {
    const call = recordOf(item);
    if (call === null) return [];
    const named = recordOf(call['function']) ?? {};
    const args = named['arguments'];
    return assembler.call({
      index: countOf(call['index']),
      id: stringOf(call['id']),
      name: stringOf(named['name']),
      args: recordOf(args) === null ? stringOf(args) : JSON.stringify(args),
    });
  });
}

function readUsage(value: unknown): Usage | undefined {
  const usage = recordOf(value);
  if (usage === null) return undefined;
  const prompt = countOf(usage['prompt_tokens']);
  const cached =
    countOf(recordOf(usage['prompt_tokens_details'])?.['cached_tokens']) ?? countOf(usage['prompt_cache_hit_tokens']);
  const output = countOf(usage['completion_tokens']);
  const total = countOf(usage['total_tokens']);
  const counted: Usage = {
    ...(prompt === null ? {} : { input: Math.max(prompt - (cached ?? 0), 0) }),
    ...(output === null ? {} : { output }),
    ...(cached === null ? {} : { cacheRead: cached }),
    ...(total === null ? {} : { totalTokens: total }),
  };
  return Object.keys(counted).length > 0 ? counted : undefined;
}
