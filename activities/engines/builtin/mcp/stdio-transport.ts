import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { JSONRPCMessageSchema, type JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import type { Logger } from '../../../../infra/log.ts';
import type { McpStdioSettings } from '../../../../infra/mcp-settings.ts';
import { engineEnv } from '../../process/engine-env.ts';
import { startEngineProcess, type EngineExit, type EngineProcess } from '../../process/engine-process.ts';
import { linesOf } from '../../wire/json-lines.ts';
import { McpFault } from './mcp-fault.ts';
import { MESSAGE_LIMIT } from './message-limit.ts';

/** What a server wrote last may still be in the pipe when it has ended; a grandchild may hold that pipe for ever. */
const LAST_WORDS_WITHIN_MS = 500;
const SHOWN_CHARS = 200;

/**
 * Speaks to a server that is a process, one JSON-RPC message a line.
 *
 * **Contract:** the process has an environment of what is allowed alone and never outlives this worker (`startEngineProcess`);
 * with what it started it is gone when `close` resolves. A line that is no message is skipped; one over the limit ends the server.
 * `fault` says why it ended.
 */
export class StdioTransport implements Transport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: ((message: JSONRPCMessage) => void) | undefined;
  readonly #name: string;
  readonly #settings: McpStdioSettings;
  readonly #log: Logger;
  #process: EngineProcess | null = null;
  #fault: string | null = null;
  #isClosed = false;

  constructor({ name, settings, log }: { name: string; settings: McpStdioSettings; log: Logger }) {
    this.#name = name;
    this.#settings = settings;
    this.#log = log;
  }

  /** Why there is no server any more. */
  get fault(): string {
    return this.#fault ?? 'it was closed';
  }

  async start(): Promise<void> {
    const { command, cwd, env, passEnv, memoryMb } = this.#settings;
    const started = startEngineProcess({
      command,
      cwd,
      env: engineEnv({ env: { ...env }, passEnv: [...passEnv] }),
      memoryMb,
      mark: markOf(process.pid, this.#name),
      log: this.#log,
    });
    this.#process = started;
    if (started.pid === 0) {
      const { spawnError } = await started.exited;
      this.#fault = 'its command cannot be started';
      throw new McpFault(this.#fault, { cause: spawnError });
    }
    const read = this.#read(started);
    void started.exited.then(async (exit) => {
      await Promise.race([read, sleep(LAST_WORDS_WITHIN_MS, undefined, { ref: false })]);
      this.#ended(exit);
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const { stdin } = this.#process ?? {};
    if (stdin === undefined || stdin.destroyed) throw new McpFault(this.fault, { isUndelivered: true });
    if (stdin.write(`${JSON.stringify(message)}\n`)) return;
    // one that does not read is waited for no longer than it lives
    const settled = new AbortController();
    const { signal } = settled;
    await Promise.race([once(stdin, 'drain', { signal }), once(stdin, 'close', { signal })]).catch(() => undefined);
    settled.abort();
  }

  async close(): Promise<void> {
    this.#process?.stdin.end();
    await this.#process?.kill();
    this.#close();
  }

  async #read(process: EngineProcess): Promise<void> {
    try {
      for await (const line of linesOf(process.stdout, MESSAGE_LIMIT)) this.#hear(line);
    } catch (error) {
      this.#fault = 'it sent a message over the limit';
      this.onerror?.(error as Error);
      void process.kill();
    }
  }

  #hear(line: string): void {
    const message = JSONRPCMessageSchema.safeParse(jsonOf(line)).data;
    if (message !== undefined) this.onmessage?.(message);
    else this.#log.debug({ line: line.slice(0, SHOWN_CHARS) }, 'MCP server wrote what is no message');
  }

  #ended({ code, signal, overMemory, stderrTail }: EngineExit): void {
    this.#fault ??= overMemory
      ? 'it used more memory than it may and was killed'
      : `it ended (${signal === null ? `exit code ${String(code)}` : signal})`;
    if (!this.#isClosed) this.#log.warn({ code, signal, overMemory, stderrTail }, 'MCP server ended by itself');
    this.#close();
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.onclose?.();
  }
}

/** What tells the processes of a worker's server from those of any other. */
export function markOf(workerPid: number, server: string): string {
  return `mcp.${String(workerPid)}.${server}`;
}

function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return undefined;
  }
}
