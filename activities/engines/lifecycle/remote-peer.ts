import { Agent, request, type Dispatcher } from 'undici';
import { TidemarkError } from '../../../contract/errors.ts';
import { hostEnvironment } from '../../../infra/config.ts';
import type { EngineSettingsOf } from '../../../infra/engine-settings.ts';
import { jsonValues, type StreamFormat } from './event-lines.ts';
import type { AdapterPeer } from './peer.ts';

const CONNECT_WITHIN_MS = 10_000;
const HEADERS_WITHIN_MS = 60_000;
const CANCEL_WITHIN_MS = 5_000;
const CAPABILITIES_LIMIT_BYTES = 65_536;

/** A service that is an adapter: `GET {url}/capabilities`, `POST {url}/runs`, `…/runs/{run_id}/resume`, `…/runs/{run_id}/cancel`. */
export function remotePeer(name: string, url: string, settings: EngineSettingsOf<'lifecycle'>): AdapterPeer {
  const headers = headersOf(name, settings);
  // the turn's own watch ends a stream that is silent for too long
  const agent = new Agent({
    connect: { timeout: CONNECT_WITHIN_MS },
    headersTimeout: HEADERS_WITHIN_MS,
    bodyTimeout: 0,
  });
  const base = url.replace(/\/+$/, '');

  async function call(
    path: string,
    options: Pick<Dispatcher.RequestOptions, 'method' | 'body'> & { signal: AbortSignal },
  ) {
    const json = options.body === undefined ? {} : { 'content-type': 'application/json' };
    const accept = 'application/x-ndjson, text/event-stream';
    try {
      return await request(base + path, { ...options, dispatcher: agent, headers: { accept, ...json, ...headers } });
    } catch (error) {
      throw unavailable(name, 'its service does not answer', error);
    }
  }

  async function* events(path: string, body: unknown, signal: AbortSignal): AsyncGenerator<unknown> {
    const response = await call(path, { method: 'POST', body: JSON.stringify(body), signal });
    try {
      const format = formatOf(name, response);
      yield* jsonValues(response.body, format);
    } catch (error) {
      if (error instanceof TidemarkError) throw error;
      const lost = `the engine ${name} broke its stream off`;
      throw new TidemarkError('engine_lost', lost, 'Look at the log of its service.', { cause: error });
    } finally {
      response.body.on('error', () => undefined).destroy();
    }
  }

  return {
    async capabilities(signal) {
      const { statusCode, body } = await call('/capabilities', { method: 'GET', signal });
      if (statusCode !== 200) {
        await body.dump();
        return undefined;
      }
      return await capabilitiesIn(name, body);
    },
    // a cancelled stream is read to its terminal
    stream: (turn, { abandoned }) => events('/runs', turn, abandoned),
    resume: (turn, { abandoned }) =>
      events(`/runs/${encodeURIComponent(turn.interrupted_run_id)}/resume`, turn, abandoned),
    async cancel(turn) {
      const signal = AbortSignal.timeout(CANCEL_WITHIN_MS);
      const path = `/runs/${encodeURIComponent(turn.run_id)}/cancel`;
      await (await call(path, { method: 'POST', body: JSON.stringify(turn), signal })).body.dump();
    },
    close: () => agent.destroy(),
  };
}

/** A redirect is an answer like any other that is not 200: what a header holds goes to the named service alone. */
function formatOf(name: string, { statusCode, headers }: Dispatcher.ResponseData): StreamFormat {
  if (statusCode !== 200) throw unavailable(name, `its service answered ${String(statusCode)}`, undefined);
  const type = String(headers['content-type'] ?? '')
    .split(';')[0]
    ?.trim()
    .toLowerCase();
  if (type === 'application/x-ndjson') return 'ndjson';
  if (type === 'text/event-stream') return 'sse';
  const message = `the engine ${name} answered with another content type than application/x-ndjson or text/event-stream`;
  throw new TidemarkError('engine_protocol_error', message, 'Set the content-type of its answer.');
}

async function capabilitiesIn(name: string, body: Dispatcher.ResponseData['body']): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > CAPABILITIES_LIMIT_BYTES) throw unavailable(name, 'its capabilities are over the limit', undefined);
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8')) as unknown;
  } catch {
    throw unavailable(name, 'its capabilities are not JSON', undefined);
  }
}

/** `$NAME` in a header's value is that variable, if `passEnv` names it or `env` sets it; nothing else of the environment is sent. */
function headersOf(name: string, { headers, passEnv, env }: EngineSettingsOf<'lifecycle'>): Record<string, string> {
  const host = hostEnvironment();
  const valueOf = (variable: string): string => {
    const value = env[variable] ?? (passEnv.includes(variable) ? host[variable] : undefined);
    if (value !== undefined) return value;
    const remedy = `Name ${variable} in engines.${name}.passEnv and set it for the worker.`;
    throw new TidemarkError(
      'engine_unavailable',
      `a header of the engine ${name} needs $${variable}, which it is not given`,
      remedy,
    );
  };
  const filled = (value: string): string =>
    value.replace(/\$([A-Za-z_][A-Za-z0-9_]*)/g, (_, variable: string) => valueOf(variable));
  return Object.fromEntries(Object.entries(headers).map(([header, value]) => [header, filled(value)]));
}

function unavailable(name: string, what: string, cause: unknown): TidemarkError {
  const remedy = `Look at engines.${name} in tidemark.config.ts and at the log of its service.`;
  return new TidemarkError('engine_unavailable', `the engine ${name} cannot be used: ${what}`, remedy, { cause });
}
