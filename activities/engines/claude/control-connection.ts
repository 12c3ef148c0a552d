import type { Readable, Writable } from 'node:stream';
import { z } from 'zod';
import { TidemarkError } from '../../../contract/errors.ts';
import { asError, LineStream, shownLine } from '../wire/line-stream.ts';
import { RequestFault } from '../wire/request-fault.ts';
import type { WireFrame } from '../wire/wire-frame.ts';
import type { ClaudeMessage } from './claude-frames.ts';

/** What the program asks of its host. The signal aborts when it takes the request back. */
export interface ControlRequest {
  readonly id: string;
  readonly request: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
}

/** What it answers: `error` is null where it went well. */
export interface ControlAnswer {
  readonly response: unknown;
  readonly error: string | null;
}

export interface ControlParts {
  /** Makes the ids of our requests. */
  readonly prefix: string;
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** Resolves when the process has gone, with the fault that it is. */
  readonly gone: Promise<TidemarkError>;
  /** Stores a message. Calls are stored in the order in which they are made. */
  record(dir: WireFrame['dir'], message: ClaudeMessage): Promise<void>;
  /** Stores what is no message. */
  recordMalformed(text: string): Promise<void>;
  /** Answers a request of the program, or throws a `RequestFault`. */
  serve(request: ControlRequest): Promise<object>;
  /** Is told all that is no part of the control protocol. */
  hear(message: ClaudeMessage): void;
}

const Request = z.object({ request_id: z.string().min(1), request: z.record(z.string(), z.unknown()) });
const Withdrawal = z.object({ request_id: z.string().min(1) });
const Answer = z.object({
  response: z.object({
    request_id: z.string().min(1),
    subtype: z.string(),
    response: z.unknown().optional(),
    error: z.string().catch('no reason given'),
  }),
});

/**
 * The two conversations on the standard streams of Claude Code: its messages, and the control requests of either side between them.
 *
 * **Contract:** a message is stored before anything that it leads to happens, and the next one is read only then. A request of the
 * program is served beside what follows it; one that it has taken back is not answered. When the program ends, prints what is no
 * message, or a message cannot be stored, every open request rejects with that fault, once and for all.
 */
export class ControlConnection {
  /** Resolves with the fault that ended the conversation. */
  readonly ended: Promise<Error>;
  readonly #parts: ControlParts;
  readonly #stream: LineStream;
  readonly #open = new Map<string, PromiseWithResolvers<ControlAnswer>>();
  readonly #served = new Map<string, AbortController>();
  #requests = 0;

  constructor(parts: ControlParts) {
    this.#parts = parts;
    const { stdin, stdout, gone } = parts;
    this.#stream = new LineStream({
      ...{ stdin, stdout, gone },
      take: async (line) => await this.#take(line),
      onEnd: (fault) => this.#drop(fault),
    });
    this.ended = this.#stream.ended;
  }

  /** Asks; resolves with the answer, also when it is an error. Rejects only if there will be no answer. */
  async request(request: { readonly subtype: string }): Promise<ControlAnswer> {
    const requestId = `${this.#parts.prefix}-${String(this.#requests++)}`;
    const answer = Promise.withResolvers<ControlAnswer>();
    this.#open.set(requestId, answer);
    // the fault is thrown from the await below, also when it comes while the request is still being stored
    answer.promise.catch(() => undefined);
    await this.send({ type: 'control_request', request_id: requestId, request });
    return await answer.promise;
  }

  async send(message: ClaudeMessage): Promise<void> {
    await this.#stream.say(message, async () => await this.#parts.record('send', message));
  }

  /** Ends the conversation: who waits for an answer is given the fault. Only the first call counts. */
  end(fault: Error): void {
    this.#stream.end(fault);
  }

  #drop(fault: Error): void {
    for (const { reject } of this.#open.values()) reject(fault);
    this.#open.clear();
    for (const served of this.#served.values()) served.abort();
    this.#served.clear();
  }

  async #take(line: string): Promise<void> {
    const message = messageOf(line);
    if (message === null) {
      await this.#parts.recordMalformed(shownLine(line));
      throw NO_MESSAGE;
    }
    await this.#parts.record('recv', message);
    switch (message['type']) {
      case 'control_request': {
        const asked = Request.safeParse(message).data;
        if (asked !== undefined) void this.#serve(asked.request_id, asked.request);
        return;
      }
      case 'control_response': {
        const answered = Answer.safeParse(message).data?.response;
        if (answered === undefined) return;
        const { request_id: requestId, subtype, response, error } = answered;
        this.#open.get(requestId)?.resolve({ response, error: subtype === 'error' ? error : null });
        this.#open.delete(requestId);
        return;
      }
      case 'control_cancel_request':
        this.#served.get(Withdrawal.safeParse(message).data?.request_id ?? '')?.abort();
        return;
      default:
        this.#parts.hear(message);
    }
  }

  async #serve(id: string, request: ControlRequest['request']): Promise<void> {
    const withdrawn = new AbortController();
    this.#served.set(id, withdrawn);
    try {
      const answer = await this.#answerTo({ id, request, signal: withdrawn.signal });
      if (this.#stream.hasEnded || withdrawn.signal.aborted) return;
      await this.send({ type: 'control_response', response: { request_id: id, ...answer } });
    } catch (error) {
      this.#stream.end(asError(error));
    } finally {
      this.#served.delete(id);
    }
  }

  async #answerTo(request: ControlRequest): Promise<object> {
    try {
      return { subtype: 'success', response: await this.#parts.serve(request) };
    } catch (error) {
      if (error instanceof RequestFault) return { subtype: 'error', error: error.message };
      throw error;
    }
  }
}

const NO_MESSAGE = new TidemarkError(
  'engine_protocol_error',
  'the engine printed a line that is no message of its protocol',
  'The frame `malformed` of the run shows the line. Check that its command is Claude Code, and nothing that prints before it.',
);

/** A line as a message; null where it is none. */
function messageOf(line: string): ClaudeMessage | null {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return null;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const message = value as ClaudeMessage;
  return typeof message['type'] === 'string' ? message : null;
}
