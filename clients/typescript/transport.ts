import type { z } from 'zod';
import { TidemarkApiError } from './api-error.ts';
import { backoffMs, pause } from './backoff.ts';
import { readProblem } from './problem.ts';

export interface TransportOptions {
  /** Where the gateway is: `http://127.0.0.1:4310`, with a path where it is served under one. */
  readonly baseUrl: string;
  readonly apiKey?: string | undefined;
  /** In the place of the global one. */
  readonly fetch?: typeof fetch | undefined;
}

/** What can be given up: the signal's reason is thrown then. */
export interface Abortable {
  readonly signal?: AbortSignal | undefined;
}

export type Query = Readonly<Record<string, string | number | undefined>>;

export interface ApiRequest extends Abortable {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** From `/v1` on, each part of it escaped. */
  readonly path: string;
  readonly query?: Query;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** How long the server may hold the answer back, beside the usual patience. */
  readonly waitMs?: number;
  /** False: sent once, for a repeat could do something twice. */
  readonly isRepeatable?: boolean;
}

const PATIENCE_MS = 30_000;
const TRIES = 6;
const BACKOFF = { baseMs: 200, capMs: 5_000 };

/**
 * Requests to one gateway.
 *
 * **Contract:** an answer that did not come whole, a 5xx and a 429 are tried again, a few times, unless the request is not
 * repeatable; every failure is a `TidemarkApiError`. When the caller's signal aborts, its reason is thrown.
 */
export class Transport {
  readonly #options: TransportOptions;

  constructor(options: TransportOptions) {
    this.#options = options;
  }

  /** The answer as the schema has it; null for one without content. */
  async json<Schema extends z.ZodType>(schema: Schema, request: ApiRequest): Promise<z.output<Schema>> {
    return await this.#trying(request, async (response) => {
      const text = await response.text();
      const said = text === '' ? null : jsonOf(nameOf(request), text);
      const parsed = schema.safeParse(said);
      if (parsed.success) return parsed.data;
      throw unexpected(nameOf(request), `not what this client knows: ${firstFault(parsed.error)}`);
    });
  }

  /** What `read` makes of a successful answer; reading is part of the try. */
  async read<T>(request: ApiRequest, read: (response: Response) => Promise<T>): Promise<T> {
    return await this.#trying(request, read);
  }

  /** One try; the answer's body is the caller's to read and to close. */
  async open(request: ApiRequest): Promise<Response> {
    const { baseUrl, apiKey, fetch: ownFetch } = this.#options;
    const send = ownFetch ?? fetch;
    let response: Response;
    try {
      response = await send(urlOf(baseUrl, request), {
        method: request.method,
        headers: {
          accept: 'application/json',
          ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
          ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
          ...request.headers,
        },
        ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
        ...(request.signal === undefined ? {} : { signal: request.signal }),
      });
    } catch (error) {
      request.signal?.throwIfAborted();
      throw noAnswer(nameOf(request), baseUrl, error);
    }
    if (response.ok) return response;
    throw await readProblem(nameOf(request), response);
  }

  async #trying<T>(request: ApiRequest, read: (response: Response) => Promise<T>): Promise<T> {
    const tries = request.isRepeatable === false ? 1 : TRIES;
    for (let tried = 1; ; tried++) {
      try {
        return await this.#try(request, read);
      } catch (error) {
        if (!(error instanceof TidemarkApiError) || !error.mayPass || tried >= tries) throw error;
        await pause(error.retryAfterMs ?? backoffMs(tried, BACKOFF.baseMs, BACKOFF.capMs), request.signal);
        request.signal?.throwIfAborted();
      }
    }
  }

  async #try<T>(request: ApiRequest, read: (response: Response) => Promise<T>): Promise<T> {
    const patience = AbortSignal.timeout(PATIENCE_MS + (request.waitMs ?? 0));
    const signal = request.signal === undefined ? patience : AbortSignal.any([request.signal, patience]);
    try {
      return await read(await this.open({ ...request, signal }));
    } catch (error) {
      request.signal?.throwIfAborted();
      if (error instanceof TidemarkApiError) throw error;
      throw noAnswer(nameOf(request), this.#options.baseUrl, error);
    }
  }
}

/** A path of parts that were given from outside. */
export function pathOf(strings: TemplateStringsArray, ...parts: readonly string[]): string {
  return strings.reduce((path, text, at) => `${path}${encodeURIComponent(parts[at - 1] ?? '')}${text}`);
}

function urlOf(baseUrl: string, { path, query = {} }: ApiRequest): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) params.set(name, String(value));
  const asked = params.toString();
  return `${baseUrl.replace(/\/+$/, '')}${path}${asked === '' ? '' : `?${asked}`}`;
}

function nameOf({ method, path }: ApiRequest): string {
  return `${method} ${path}`;
}

function jsonOf(request: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw unexpected(request, `no JSON: ${JSON.stringify(text.slice(0, 100))}`, cause);
  }
}

function firstFault(error: z.ZodError): string {
  const [issue] = error.issues;
  return issue === undefined ? error.message : `${issue.path.map(String).join('.') || 'the answer'}: ${issue.message}`;
}

function unexpected(request: string, what: string, cause?: unknown): TidemarkApiError {
  return new TidemarkApiError(
    'unexpected_answer',
    `the answer to ${request} is ${what}`,
    'Check that the base URL leads to a Tidemark gateway of this client’s version, and what stands between.',
    // JSON that was cut or garbled on its way is worth another try; JSON of another form is not
    { cause, mayPass: cause !== undefined },
  );
}

function noAnswer(request: string, baseUrl: string, cause: unknown): TidemarkApiError {
  const why =
    cause instanceof Error ? [cause.message, reasonOf(cause.cause)].filter(Boolean).join(': ') : String(cause);
  return new TidemarkApiError(
    'no_answer',
    `${request} got no whole answer from ${baseUrl}: ${why}`,
    'Check that the gateway is there (npm start) and that this is its URL.',
    { cause, mayPass: true },
  );
}

function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return '';
  const { code } = cause as { code?: unknown };
  return cause.message === '' && typeof code === 'string' ? code : cause.message;
}
