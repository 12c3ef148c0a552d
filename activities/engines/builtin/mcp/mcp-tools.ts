import type { Logger } from '../../../../infra/log.ts';
import type { ConfiguredMcpServers } from '../../../../infra/mcp-settings.ts';
import type { ExecutableTool, Tools } from '../tools/tool.ts';
import { pause } from './abortable.ts';
import type { McpOutage } from './outage-frame.ts';
import type { McpServer } from './server.ts';
import { serverOfToolName } from './tool-name.ts';

/** Of all servers together: OpenAI takes no more than 128 tools in a call, and the engine has some of its own. */
const TOOLS = 100;

/**
 * The tools of a worker process's MCP servers.
 *
 * **Contract:** no server holds up anything but a first look at it. Tools come in the order of the configuration, so that all workers
 * leave out the same ones where there are too many. After `close` no process of a server is left.
 */
export class McpTools implements Tools {
  readonly #servers: ReadonlyMap<string, McpServer>;
  readonly #log: Logger;
  #tools: ReadonlyMap<string, ExecutableTool> = new Map();

  private constructor(log: Logger, serversFor: (onChange: () => void) => readonly McpServer[]) {
    this.#log = log;
    this.#servers = new Map(serversFor(() => this.#collect()).map((server) => [server.name, server]));
  }

  /** Without servers MCP's SDK is not loaded: a worker is there sooner. */
  static async of({ servers, log }: { servers: ConfiguredMcpServers; log: Logger }): Promise<McpTools> {
    if (servers.size === 0) return new McpTools(log, () => []);
    const { McpServer } = await import('./server.ts');
    return new McpTools(log, (onChange) =>
      [...servers].map(([name, settings]) => {
        return new McpServer({ name, settings, log: log.child({ mcpServer: name }), onChange });
      }),
    );
  }

  /** Connects to all of them, in the background. */
  start(): void {
    for (const server of this.#servers.values()) server.start();
  }

  get(name: string): ExecutableTool | undefined {
    return this.#tools.get(name);
  }

  values(): Iterable<ExecutableTool> {
    return this.#tools.values();
  }

  /** Waits until it is known of every server whether it is there, but no longer than `withinMs` or the signal lets. */
  async settled(withinMs: number, signal?: AbortSignal): Promise<void> {
    const enough = new AbortController();
    const all = Promise.all([...this.#servers.values()].map(async (server) => await server.settled()));
    const bounds = signal === undefined ? enough.signal : AbortSignal.any([signal, enough.signal]);
    await Promise.race([all, pause(withinMs, bounds)]);
    enough.abort();
  }

  /** The servers that are down now. */
  outages(): readonly McpOutage[] {
    return [...this.#servers.values()].flatMap(({ name: server, outage }) =>
      outage === null ? [] : [{ server, reason: outage }],
    );
  }

  /** Why a tool is not there, to be said to the model; null for a name that would be no configured server's. */
  absence(toolName: string): string | null {
    const server = this.#servers.get(serverOfToolName(toolName) ?? '');
    if (server === undefined || this.#tools.has(toolName)) return null;
    if (server.outage === null) return `the MCP server ${server.name} does not offer it now`;
    return `the MCP server ${server.name} is not available: ${server.outage}`;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#servers.values()].map(async (server) => await server.close()));
  }

  #collect(): void {
    const all = [...this.#servers.values()].flatMap(({ tools }) => tools);
    if (all.length > TOOLS) {
      this.#log.warn({ tools: all.length, limit: TOOLS }, 'MCP servers offer too many tools; see tools.allow');
    }
    this.#tools = new Map(all.slice(0, TOOLS).map((tool) => [tool.name, tool]));
  }
}
