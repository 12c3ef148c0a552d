import type { StopReason, Usage } from '../../../../contract/agent-messages.ts';
import type { AnswerReader } from './answer-reader.ts';
import type { Outcome } from './conclude.ts';
import { FILTERED } from './failure.ts';
import type { MessageAssembler } from './message-assembler.ts';
import type { ProviderEvent } from './provider.ts';
import { ReportedFault } from './reported-fault.ts';
import { ResponseItems } from './response-items.ts';
import { countOf, listOf, recordOf, stringOf, type JsonRecord } from './untrusted-json.ts';

/** The contract's stop reason for a response's `status` (source facts C.4). */
export function mapStatus(status: string | null): StopReason {
  switch (status) {
    case null:
    case '':
    case 'completed':
    case 'in_progress':
    case 'queued':
      return 'stop';
    case 'incomplete':
      return 'length';
    default:
      return 'error';
  }
}

/** Reads the Responses API. Only an event that ends the response ends the answer. */
export class ResponsesAnswer implements AnswerReader {
  readonly #items: ResponseItems;
  outcome: Outcome | null = null;
  usage: Usage | undefined;

  constructor(assembler: MessageAssembler) {
    this.#items = new ResponseItems(assembler);
  }

  get progress(): AnswerReader['progress'] {
    return this.outcome === null ? 'open' : 'ended';
  }

  read(value: unknown): ProviderEvent[] {
    const event = recordOf(value);
    if (event === null) throw new TypeError('an event of the stream is not a JSON object');
    switch (event['type']) {
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
      case 'response.cancelled':
        return this.readWhole(event['response']);
      case 'error':
        throw new ReportedFault(event['error'] ?? event);
      default:
        return this.#items.read(event);
    }
  }

  /** The whole response; what the stream has left out of it is said now. */
  readWhole(value: unknown): ProviderEvent[] {
    const response = recordOf(value);
    if (response === null) throw new TypeError('a response is not a JSON object');
    this.usage = readUsage(response['usage']) ?? this.usage;
    const status = stringOf(response['status']);
    if (status === 'failed') throw new ReportedFault(response['error']);
    const events = listOf(response['output']).flatMap((item, index) => this.#items.finish(index, recordOf(item) ?? {}));
    this.outcome = outcomeOf(status, stringOf(recordOf(response['incomplete_details'])?.['reason']));
    return events;
  }
}

function outcomeOf(status: string, reason: string): Outcome {
  if (status === 'incomplete' && reason === 'content_filter') return { kind: 'refused', failure: FILTERED };
  const stopReason = mapStatus(status);
  if (stopReason === 'stop' || stopReason === 'length') return { kind: 'answered', stopReason };
  const message = `the provider stopped the answer: ${status}`;
  return { kind: 'refused', failure: { code: 'provider_rejected', retryable: false, message } };
}

function readUsage(value: unknown): Usage | undefined {
  const usage = recordOf(value);
  if (usage === null) return undefined;
  const prompt = countOf(usage['input_tokens']);
  const cached = countOf(detailOf(usage)['cached_tokens']);
  const output = countOf(usage['output_tokens']);
  const total = countOf(usage['total_tokens']);
  const counted: Usage = {
    ...(prompt === null ? {} : { input: Math.max(prompt - (cached ?? 0), 0) }),
    ...(output === null ? {} : { output }),
    ...(cached === null ? {} : { cacheRead: cached }),
    ...(total === null ? {} : { totalTokens: total }),
  };
  return Object.keys(counted).length > 0 ? counted : undefined;
}

function detailOf(usage: JsonRecord): JsonRecord {
  return recordOf(usage['input_tokens_details']) ?? {};
}
