import { performance } from 'node:perf_hooks';
import type { Logger } from '../../../../infra/log.ts';
import type { McpServerSettings } from '../../../../infra/mcp-settings.ts';
import type { ExecutableTool } from '../tools/tool.ts';
import { abortable, pause } from './abortable.ts';
import type { Catalogue } from './catalogue.ts';
import { McpFault } from './mcp-fault.ts';
import { mcpTool } from './mcp-tool.ts';
import { McpSession, type ToolRequest } from './session.ts';
import type { CallAnswer } from './tool-outcome.ts';

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
/** What ends a connection that has held so long is not one more of the failures before. */
const GOOD_MS = 30_000;

export interface ServerParts {
  readonly name: string;
  readonly settings: McpServerSettings;
  readonly log: Logger;
  /** What it offers has changed. */
  readonly onChange: () => void;
}

/**
 * A configured server, kept connected.
 *
 * **Contract:** connects in the background from `start` on, once more at once when a connection is lost, and then at growing
 * intervals. While it is down `outage` says why, it offers no tools, and nobody waits for it; while a lost connection is renewed for
 * the first time its tools stay. A call that has not reached it is made once more after that. After `close` nothing of it is left.
 */
export class McpServer {
  readonly name: string;
  readonly #parts: ServerParts;
  readonly #closing = new AbortController();
  #tools: readonly ExecutableTool[] = [];
  /** The connection that is there, or is being made. */
  #current: McpSession | null = null;
  #connected: McpSession | null = null;
  #connectedAt = 0;
  #outage: string | null = null;
  #failures = 0;
  /** Settled once it is known whether the server is there. */
  #known = Promise.withResolvers<void>();
  #running: Promise<void> | null = null;

  constructor(parts: ServerParts) {
    this.name = parts.name;
    this.#parts = parts;
  }

  start(): void {
    this.#running ??= this.#keepConnected();
  }

  /** What a model may be told of now. */
  get tools(): readonly ExecutableTool[] {
    return this.#outage === null ? this.#tools : [];
  }

  /** Why it is down, in words that may be shown; null while it is up, or not known to be down. */
  get outage(): string | null {
    return this.#outage;
  }

  /** Resolves when it is known whether the server is there: at once when it is, or is down. */
  async settled(): Promise<void> {
    if (this.#outage === null) await this.#known.promise;
  }

  /** @throws McpFault when there is no connection or it is lost, McpError for what the server refuses and for a call that is late. */
  async call(request: ToolRequest): Promise<CallAnswer> {
    try {
      return await this.#callOnce(request);
    } catch (error) {
      const isLost = error instanceof McpFault && error.isUndelivered && error.endsConnection;
      if (!isLost || this.#outage !== null || this.#closing.signal.aborted) throw error;
      return await this.#callOnce(request);
    }
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#known.resolve();
    await this.#current?.close();
    await this.#running;
  }

  async #callOnce(request: ToolRequest): Promise<CallAnswer> {
    await abortable(this.settled(), request.signal);
    if (this.#connected !== null) return await this.#connected.call(request);
    throw new McpFault(this.#outage ?? 'it was closed', { isUndelivered: true });
  }

  async #keepConnected(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      const session = await this.#connect();
      await session?.ended;
      await session?.close();
      const isFirstLoss = session !== null && this.#failures === 1;
      const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** (this.#failures - 1), LONGEST_PAUSE_MS);
      await pause(isFirstLoss ? 0 : pauseMs, signal);
    }
  }

  /** Null when there is no connection now. */
  async #connect(): Promise<McpSession | null> {
    const { name, settings, log } = this.#parts;
    try {
      const session: McpSession = new McpSession({
        name,
        settings,
        log,
        onListed: (catalogue) => this.#offer(catalogue),
        onEnded: (reason) => this.#lose(session, reason),
      });
      this.#current = session;
      await session.open();
      this.#current.throwIfOver();
    } catch (error) {
      await this.#current?.close();
      this.#failures++;
      this.#down(error instanceof McpFault ? error.message : 'it cannot be connected');
      this.#known.resolve();
      return null;
    }
    this.#connected = this.#current;
    this.#connectedAt = performance.now();
    this.#outage = null;
    log.info({ tools: this.#tools.length }, 'MCP server connected');
    this.#known.resolve();
    this.#parts.onChange();
    return this.#connected;
  }

  #offer({ tools }: Catalogue): void {
    const { name, settings, onChange } = this.#parts;
    const server = { name, settings, call: async (request: ToolRequest) => await this.call(request) };
    this.#tools = tools.map((tool) => mcpTool(server, tool));
    if (this.#connected !== null) onChange();
  }

  #lose(session: McpSession, reason: string): void {
    if (this.#connected !== session) return;
    this.#connected = null;
    if (this.#closing.signal.aborted) return;
    if (performance.now() - this.#connectedAt > GOOD_MS) this.#failures = 0;
    this.#failures++;
    if (this.#failures === 1) this.#known = Promise.withResolvers();
    else this.#down(reason);
  }

  #down(reason: string): void {
    const { log, onChange } = this.#parts;
    const isNew = this.#outage !== reason;
    this.#outage = reason;
    if (!isNew || this.#closing.signal.aborted) return;
    log.warn({ reason }, 'MCP server is down: its tools are left out, and it is tried again');
    onChange();
  }
}
