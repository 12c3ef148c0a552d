import type { Usage } from '../../../../contract/agent-messages.ts';
import type { AnswerReader } from './answer-reader.ts';
import type { Outcome } from './conclude.ts';
import type { Failure } from './failure.ts';
import { MessageAssembler } from './message-assembler.ts';
import type { Protocol, Server } from './protocol.ts';
import type { CallOptions, OnProviderEvent, ProviderEvent } from './provider.ts';
import { ReportedFault } from './reported-fault.ts';
import { safeText } from './safe-text.ts';
import { failureOf, SILENT } from './sdk-failure.ts';
import { recordOf } from './untrusted-json.ts';
import { WireWatch } from './wire-watch.ts';

export interface Exchange {
  readonly assembler: MessageAssembler;
  readonly usage: Usage | undefined;
  readonly outcome: Outcome;
  /** Whether anything of an answer was said: then the request must not be sent again. */
  readonly hasSaid: boolean;
}

export interface Request {
  readonly protocol: Protocol;
  readonly server: Server;
  readonly body: object;
}

/** One request and its answer, read to the end; throws only what `onEvent` throws. */
export async function exchange(request: Request, options: CallOptions, onEvent?: OnProviderEvent): Promise<Exchange> {
  const assembler = new MessageAssembler(options.toolCallId);
  const answer: Answer = {
    reader: request.protocol.readerFor(assembler),
    watch: new WireWatch(options.stallMs),
    hasBegun: false,
    hasSaid: false,
    failure: null,
  };
  const { reader, watch } = answer;
  try {
    const signal = AbortSignal.any([options.signal, watch.signal]);
    for await (const events of readEvents(request, signal, answer)) {
      answer.hasSaid ||= events.length > 0;
      await sayAll(events, onEvent, watch);
    }
  } finally {
    watch.stop();
  }
  const outcome = safe(outcomeFor(answer, options.signal, request), request.server);
  return { assembler, usage: reader.usage, outcome, hasSaid: answer.hasSaid };
}

interface Answer {
  readonly reader: AnswerReader;
  readonly watch: WireWatch;
  hasBegun: boolean;
  hasSaid: boolean;
  failure: Failure | null;
}

/** The events of the answer as they come; what the provider does wrong ends them and is left in `answer.failure`. */
async function* readEvents(
  { protocol, server, body }: Request,
  signal: AbortSignal,
  answer: Answer,
): AsyncGenerator<ProviderEvent[]> {
  const { reader, watch } = answer;
  try {
    const sent = await protocol.send(server, body, { signal, fetch: watch.fetch });
    answer.hasBegun = true;
    if (/\bjson\b/.test(sent.response.headers.get('content-type') ?? '')) {
      yield readWhole(await sent.response.json(), reader);
      return;
    }
    for await (const event of sent.events()) {
      const said = reader.read(event);
      if (said.length > 0) yield said;
      if (reader.progress === 'ended') return;
      if (reader.progress === 'finished') watch.finishSoon();
    }
  } catch (error) {
    answer.failure = failureOf(error, protocol.sdk, answer.hasBegun);
  }
}

/** A server that knows no streams answers whole. */
function readWhole(body: unknown, reader: AnswerReader): ProviderEvent[] {
  const report = recordOf(body)?.['error'];
  if (report !== undefined && report !== null) throw new ReportedFault(report);
  return reader.readWhole(body);
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

function outcomeFor({ reader, failure, watch }: Answer, caller: AbortSignal, { protocol }: Request): Outcome {
  if (reader.outcome !== null) return reader.outcome;
  if (protocol.endsByMark && failure === null && watch.sawDone) return { kind: 'answered', stopReason: 'stop' };
  if (caller.aborted) return { kind: 'aborted' };
  if (watch.fault !== null) return { kind: 'failed', failure: FAULTS[watch.fault] };
  return { kind: 'failed', failure: failure ?? CUT_SHORT };
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
