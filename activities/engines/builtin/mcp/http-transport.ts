import { StreamableHTTPClientTransport, StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { Agent, fetch as undiciFetch } from 'undici';
import { hostEnvironment } from '../../../../infra/config.ts';
import type { McpHttpSettings } from '../../../../infra/mcp-settings.ts';
import { boundedBody } from './bounded-body.ts';
import { McpFault } from './mcp-fault.ts';

const CONNECT_WITHIN_MS = 10_000;
const GOODBYE_WITHIN_MS = 2_000;

export interface HttpConnection {
  readonly transport: Transport;
  /** Ends the server's session, if it is there to hear of it, and every connection. */
  close(): Promise<void>;
}

/**
 * Speaks to a server over streamable HTTP.
 *
 * **Contract:** headers go to the configured origin alone. An answer is bounded in size; its time is the caller's to bound.
 * `onBroken` is called when an answer broke off, since its request would wait for ever.
 *
 * @throws McpFault for a header that needs a variable which is not set.
 */
export function connectHttp({ url, headers }: McpHttpSettings, onBroken: (reason: string) => void): HttpConnection {
  const agent = new Agent({ connect: { timeout: CONNECT_WITHIN_MS }, headersTimeout: 0, bodyTimeout: 0 });
  const fetchBounded = async (input: string | URL, init: RequestInit = {}): Promise<Response> => {
    const options = { ...init, dispatcher: agent };
    const response = await undiciFetch(input, options);
    const isAnswer = init.method === 'POST';
    return boundedBody(response, () => (isAnswer ? onBroken('an answer of it broke off') : undefined));
  };
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: filled(headers) },
    fetch: fetchBounded,
  });
  return {
    transport,
    async close() {
      const late = new Promise((resolve) => setTimeout(resolve, GOODBYE_WITHIN_MS).unref());
      await Promise.race([transport.terminateSession().catch(() => undefined), late]);
      await transport.close();
      await agent.destroy();
    },
  };
}

/** Why a request failed, in words that hold nothing of the server's; null for what is no failure of HTTP. */
export function httpFault(error: unknown): McpFault | null {
  if (error instanceof StreamableHTTPError) {
    const { code = 0 } = error;
    return new McpFault(code > 0 ? `it answered ${String(code)}` : 'it answered with what is no MCP', {
      // what it refuses at its door it has not done
      isUndelivered: code >= 400 && code < 500,
      endsConnection: SESSION_LOST.has(code),
      cause: error,
    });
  }
  if (!(error instanceof TypeError)) return null;
  const code = codeOf(error.cause);
  const isUndelivered = code !== null && NEVER_SENT.has(code);
  return new McpFault(`it cannot be reached${code === null ? '' : ` (${code})`}`, { isUndelivered, cause: error });
}

/** What a server answers that does not know the session, or who asks, any more. */
const SESSION_LOST = new Set([400, 401, 403, 404]);
const NEVER_SENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'UND_ERR_CONNECT_TIMEOUT']);

function codeOf(cause: unknown): string | null {
  return cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : null;
}

/** `$NAME` in a header's value is that variable of the worker's environment. */
function filled(headers: Readonly<Record<string, string>>): Record<string, string> {
  const host = hostEnvironment();
  const valueOf = (variable: string): string => {
    const value = host[variable];
    if (value === undefined) throw new McpFault(`a header of it needs $${variable}, which is not set`);
    return value;
  };
  const withValues = (value: string): string =>
    value.replaceAll(/\$([A-Za-z_][A-Za-z0-9_]*)/g, (_, variable: string) => valueOf(variable));
  return Object.fromEntries(Object.entries(headers).map(([header, value]) => [header, withValues(value)]));
}
