import OpenAI from 'openai';
import { Stream } from 'openai/core/streaming';
import type { Usage } from '../../../../contract/agent-messages.ts';
import type { Outcome } from './conclude.ts';
import type { Failure } from './failure.ts';
import { MessageAssembler } from './message-assembler.ts';
import { outcomeOf, readChunk, type AnswerState } from './openai-answer.ts';
import { failureOf, ReportedFault, SILENT } from './openai-failures.ts';
import type { CallOptions, OnProviderEvent, ProviderEvent } from './provider.ts';
import { safeText } from './safe-text.ts';
import { listOf, recordOf } from './untrusted-json.ts';
import { WireWatch } from './wire-watch.ts';

const NO_TIMEOUT_MS = 2 ** 31 - 1;

export interface Server {
  readonly apiKey: string;
  readonly baseUrl: string;
}

export interface Attempt {
  readonly assembler: MessageAssembler;
  readonly usage: Usage | undefined;
  readonly outcome: Outcome;
}

/** One request and its answer, read to the end; throws only what `onEvent` throws. */
export async function attempt(
  server: Server,
  body: object,
  options: CallOptions,
  onEvent?: OnProviderEvent,
): Promise<Attempt> {
  const answer: Answer = {
    finishReason: '',
    usage: undefined,
    hasBegun: false,
    failure: null,
    assembler: new MessageAssembler(options.toolCallId),
    watch: new WireWatch(options.stallMs),
  };
  const { assembler, watch } = answer;
  try {
    const signal = AbortSignal.any([options.signal, watch.signal]);
    for await (const events of readEvents(server, body, signal, answer)) {
      await sayAll(events, onEvent, watch);
    }
  } finally {
    watch.stop();
  }
  return { assembler, usage: answer.usage, outcome: outcomeFor(answer, options.signal, server) };
}

interface Answer extends AnswerState {
  readonly assembler: MessageAssembler;
  readonly watch: WireWatch;
  hasBegun: boolean;
  failure: Failure | null;
}

/** The events of the answer as they come; what the provider does wrong ends them and is left in `answer.failure`. */
async function* readEvents(
  server: Server,
  body: object,
  signal: AbortSignal,
  answer: Answer,
): AsyncGenerator<ProviderEvent[]> {
  try {
    const client = new OpenAI({
      apiKey: server.apiKey,
      baseURL: server.baseUrl,
      organization: null,
      project: null,
      logLevel: 'off',
      // Retries are the loop's; the watch ends a silent call, so the SDK's own clock must never be first.
      maxRetries: 0,
      timeout: NO_TIMEOUT_MS,
      fetch: answer.watch.fetch,
    });
    const request = body as OpenAI.Chat.ChatCompletionCreateParamsStreaming;
    const response = await client.chat.completions.create(request, { signal }).asResponse();
    answer.hasBegun = true;
    if (/\bjson\b/.test(response.headers.get('content-type') ?? '')) {
      yield readWhole(await response.json(), answer);
      return;
    }
    for await (const chunk of Stream.fromSSEResponse<unknown>(response, new AbortController(), client)) {
      const events = readChunk(chunk, answer, answer.assembler);
      if (answer.finishReason !== '') answer.watch.finishSoon();
      if (events.length > 0) yield events;
    }
  } catch (error) {
    answer.failure = failureOf(error, answer.hasBegun);
  }
}

/** A server that knows no streams answers whole. */
function readWhole(body: unknown, answer: Answer): ProviderEvent[] {
  const report = recordOf(body)?.['error'];
  if (report !== undefined && report !== null) throw new ReportedFault(report);
  const events = readChunk(body, answer, answer.assembler);
  if (listOf(recordOf(body)?.['choices']).length > 0) answer.finishReason ||= 'stop';
  return events;
}

async function sayAll(
  events: readonly ProviderEvent[],
  onEvent: OnProviderEvent | undefined,
  watch: WireWatch,
): Promise<void> {
  for (const event of events) {
    const taken = onEvent?.(event);
    if (taken === undefined) continue;
    watch.pause();
    await taken;
    watch.resume();
  }
}

function outcomeFor(answer: Answer, caller: AbortSignal, server: Server): Outcome {
  const { finishReason, failure, watch } = answer;
  if (finishReason !== '' || (failure === null && watch.sawDone)) return safe(outcomeOf(finishReason), server);
  if (caller.aborted) return { kind: 'aborted' };
  if (watch.fault !== null) return { kind: 'failed', failure: FAULTS[watch.fault] };
  return safe({ kind: 'failed', failure: failure ?? CUT_SHORT }, server);
}

function safe(outcome: Outcome, server: Server): Outcome {
  if (!('failure' in outcome)) return outcome;
  const message = safeText(outcome.failure.message, [server.apiKey]);
  return { ...outcome, failure: { ...outcome.failure, message } };
}

const FAULTS: Record<NonNullable<WireWatch['fault']>, Failure> = {
  stalled: SILENT,
  'too-long': { code: 'provider_stream_broken', retryable: false, message: "the provider's answer is over 64 MiB" },
};

const CUT_SHORT: Failure = {
  code: 'provider_stream_broken',
  retryable: true,
  message: "the provider's stream ended before its answer did",
};
