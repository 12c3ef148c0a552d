import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  ErrorCode,
  McpError,
  ToolListChangedNotificationSchema,
  type Progress,
} from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import type { Logger } from '../../../../infra/log.ts';
import type { McpServerSettings } from '../../../../infra/mcp-settings.ts';
import { pause } from './abortable.ts';
import { catalogueOf, readPages, type Catalogue } from './catalogue.ts';
import { connectHttp, httpFault } from './http-transport.ts';
import { McpFault } from './mcp-fault.ts';
import { StdioTransport } from './stdio-transport.ts';
import { CallAnswer } from './tool-outcome.ts';

const TIMED_OUT: number = ErrorCode.RequestTimeout;
const CLIENT = { name: 'tidemark', version: '1' };
/** A server that answers none of so many pings is gone; one that works on a call is not asked. */
const PING_EVERY_MS = 30_000;
const PINGS_MISSED = 3;
/** Of what is said of a list that changes, the last word counts. */
const LIST_AGAIN_MS = 100;

const Listed = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().optional() });

export interface SessionParts {
  readonly name: string;
  readonly settings: McpServerSettings;
  readonly log: Logger;
  /** The server offers something else now. */
  readonly onListed: (catalogue: Catalogue) => void;
  /** There is no connection any more; called once, before anything that waits for the server hears of it. */
  readonly onEnded: (reason: string) => void;
}

export interface ToolRequest {
  readonly toolName: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: Progress) => void;
}

/**
 * One connection to a server, from its greeting to its end.
 *
 * **Contract:** declares no capability, so a server's requests for sampling, elicitation and roots are refused. When the
 * connection is lost every call fails with an `McpFault`, those that run too. Never reconnects.
 */
export class McpSession {
  /** Resolves when there is no connection any more. */
  readonly ended: Promise<void>;
  readonly #parts: SessionParts;
  readonly #client = new Client(CLIENT, { capabilities: {} });
  readonly #disconnect: () => Promise<void>;
  readonly #transport: Transport;
  readonly #end: (reason: string) => void;
  readonly #over = new AbortController();
  #closed: Promise<void> | null = null;
  #calls = 0;
  #isListing = false;
  #isListStale = false;

  constructor(parts: SessionParts) {
    this.#parts = parts;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ended = promise;
    this.#end = (reason) => {
      if (this.#over.signal.aborted) return;
      parts.onEnded(reason);
      this.#over.abort(new McpFault(reason));
      resolve();
    };
    const { name, settings, log } = parts;
    if (settings.transport === 'stdio') {
      const transport = new StdioTransport({ name, settings, log });
      this.#transport = transport;
      this.#disconnect = async () => await this.#client.close();
      Object.assign(this.#client, { onclose: () => this.#end(transport.fault) });
    } else {
      const http = connectHttp(settings, this.#end);
      this.#transport = http.transport;
      this.#disconnect = async () => await http.close();
    }
    this.#client.setNotificationHandler(ToolListChangedNotificationSchema, () => this.#listAgain());
    Object.assign(this.#client, { onerror: (error: Error) => log.debug({ err: error }, 'MCP connection') });
  }

  /** @throws McpFault for a server that cannot be started or reached, or that says nothing readable in time. */
  async open(): Promise<void> {
    const { settings, log } = this.#parts;
    const timeout = settings.startSeconds * 1_000;
    const giveUpAt = performance.now() + timeout;
    try {
      await this.#client.connect(this.#transport, { timeout });
      await this.#list(giveUpAt);
    } catch (error) {
      log.debug({ err: error }, 'MCP server not connected');
      const within = `it did not answer within ${String(settings.startSeconds)} s`;
      const what = isTimeout(error) ? within : 'it does not speak MCP as it should';
      throw this.#faultOf(error) ?? new McpFault(what, { cause: error });
    }
    this.#watch();
  }

  /**
   * Calls a tool.
   *
   * @throws McpFault when the connection is lost, McpError for what the server refuses and for a call that takes too long.
   */
  async call({ toolName, args, signal, onProgress }: ToolRequest): Promise<CallAnswer> {
    if (this.#over.signal.aborted) throw undelivered(this.#over.signal.reason as McpFault);
    const timeout = this.#parts.settings.timeoutSeconds * 1_000;
    this.#calls++;
    try {
      return await this.#client.request(
        { method: 'tools/call', params: { name: toolName, arguments: args } },
        CallAnswer,
        {
          signal: AbortSignal.any([signal, this.#over.signal]),
          timeout,
          maxTotalTimeout: timeout,
          onprogress: onProgress,
        },
      );
    } catch (error) {
      if (signal.aborted) throw error;
      const fault = this.#faultOf(error);
      if (fault?.endsConnection === true) this.#end(fault.message);
      throw fault ?? error;
    } finally {
      this.#calls--;
    }
  }

  /** @throws McpFault when there is no connection any more. */
  throwIfOver(): void {
    this.#over.signal.throwIfAborted();
  }

  /** Resolves when the connection is closed and a process of the server's is gone. */
  close(): Promise<void> {
    this.#end('it was closed');
    this.#closed ??= this.#disconnect().catch(() => undefined);
    return this.#closed;
  }

  /** That the connection is lost; null for what the server itself has answered, or not in time. */
  #faultOf(error: unknown): McpFault | null {
    if (this.#over.signal.aborted) return this.#over.signal.reason as McpFault;
    if (error instanceof McpFault) return error;
    return httpFault(error);
  }

  async #list(giveUpAt: number): Promise<void> {
    const { name, settings, log, onListed } = this.#parts;
    if (this.#client.getServerCapabilities()?.tools === undefined) return onListed({ tools: [], leftOut: 0 });
    const listed = await readPages(async (cursor) => {
      const timeout = Math.max(1, giveUpAt - performance.now());
      const params = cursor === undefined ? {} : { cursor };
      return await this.#client.request({ method: 'tools/list', params }, Listed, { timeout });
    });
    const catalogue = catalogueOf(name, listed, settings);
    const { tools, leftOut } = catalogue;
    if (leftOut > 0) log.warn({ tools: tools.length, leftOut }, 'tools of an MCP server are left out; see tools.allow');
    onListed(catalogue);
  }

  /** Lists once more, however often the server says that its list has changed meanwhile. */
  #listAgain(): void {
    this.#isListStale = true;
    if (!this.#isListing) void this.#listWhileStale();
  }

  async #listWhileStale(): Promise<void> {
    this.#isListing = true;
    while (this.#isListStale && !this.#over.signal.aborted) {
      await pause(LIST_AGAIN_MS, this.#over.signal);
      this.#isListStale = false;
      try {
        await this.#list(performance.now() + this.#parts.settings.startSeconds * 1_000);
      } catch (error) {
        this.#parts.log.warn({ err: error }, 'the changed tools of an MCP server cannot be listed; the old ones stay');
      }
    }
    this.#isListing = false;
  }

  #watch(): void {
    const { signal } = this.#over;
    void (async () => {
      for (let missed = 0; ;) {
        await pause(PING_EVERY_MS, signal);
        if (signal.aborted) return;
        if (this.#calls > 0) continue;
        const fault = await this.#ping();
        missed = fault === null ? 0 : missed + 1;
        if (fault?.isUndelivered === true || (fault !== null && missed >= PINGS_MISSED))
          return this.#end(fault.message);
      }
    })();
  }

  /** Null for a server that is there, whatever it answers. */
  async #ping(): Promise<McpFault | null> {
    try {
      await this.#client.ping({ timeout: PING_EVERY_MS });
      return null;
    } catch (error) {
      return isTimeout(error) ? new McpFault('it does not answer') : this.#faultOf(error);
    }
  }
}

/** That nothing came in time; a server may use the same code for a fault of its own. */
export function isTimeout(error: unknown): boolean {
  if (!(error instanceof McpError) || error.code !== TIMED_OUT) return false;
  return (error.data as { timeout?: unknown } | undefined)?.timeout !== undefined;
}

function undelivered(fault: McpFault): McpFault {
  return new McpFault(fault.message, { isUndelivered: true, cause: fault });
}
