import { Agent, request, type Dispatcher } from 'undici';
import { TidemarkError } from '../../../contract/errors.ts';
import { linesOf } from '../wire/json-lines.ts';
import type { ServerAnswer, ServerCall } from './call-frames.ts';

/** Whom the server lets in, by HTTP's basic authentication. */
export interface Credentials {
  readonly username: string;
  readonly password: string;
}

/** An answer that is longer is none of this protocol's. */
const ANSWER_LIMIT_BYTES = 64 * 1024 * 1024;
/** The server says every ten seconds that it is there. */
const STREAM_SILENT_MS = 60_000;

/**
 * Speaks to one server, of one workspace.
 *
 * **Contract:** the credentials go to the server's own address alone. An answer takes as long as the server takes; `close` ends
 * what is under way, and rejects it.
 */
export class ServerClient {
  readonly #address: string;
  readonly #query: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #agent = new Agent({ headersTimeout: 0, bodyTimeout: 0 });

  constructor(address: string, { username, password }: Credentials, directory: string) {
    this.#address = address;
    this.#query = new URLSearchParams({ directory }).toString();
    const basic = Buffer.from(`${username}:${password}`).toString('base64');
    this.#headers = { authorization: `Basic ${basic}`, 'content-type': 'application/json' };
  }

  async call({ method, path, body }: ServerCall, signal?: AbortSignal): Promise<ServerAnswer> {
    const answer = await this.#request(path, {
      method,
      body: body === undefined ? null : JSON.stringify(body),
      ...(signal === undefined ? {} : { signal }),
    });
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of answer.body as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > ANSWER_LIMIT_BYTES) throw tooLong(path);
      chunks.push(chunk);
    }
    return { status: answer.statusCode, body: parsed(Buffer.concat(chunks).toString('utf8')) };
  }

  /** What the server says from now on, each event as its text; the first is that the connection stands. */
  async *events(signal: AbortSignal): AsyncGenerator<string> {
    const { statusCode, body } = await this.#request('/event', {
      method: 'GET',
      signal,
      bodyTimeout: STREAM_SILENT_MS,
    });
    try {
      if (statusCode !== 200) throw new Error(`the server answered ${String(statusCode)}`);
      for await (const line of linesOf(body as AsyncIterable<Buffer>)) {
        if (line.startsWith('data:')) yield line.slice('data:'.length);
      }
    } finally {
      body.on('error', () => undefined).destroy();
    }
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  async #request(
    path: string,
    options: Omit<Dispatcher.RequestOptions, 'path' | 'origin'>,
  ): Promise<Dispatcher.ResponseData> {
    const url = `${this.#address}${path}${path.includes('?') ? '&' : '?'}${this.#query}`;
    return await request(url, { ...options, dispatcher: this.#agent, headers: this.#headers });
  }
}

/** An answer without a body is an answer too. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function tooLong(path: string): TidemarkError {
  return new TidemarkError(
    'engine_protocol_error',
    `the server answered ${path} with over ${String(ANSWER_LIMIT_BYTES)} bytes`,
    'Install the version of the engine that docs/engines.md names.',
  );
}
