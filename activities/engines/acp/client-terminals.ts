import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { ToolFault } from '../builtin/tools/tool.ts';
import { placeInWorkspace } from '../builtin/tools/workspace-path.ts';
import type { EngineExit, EngineProcess, EngineProcessOptions } from '../process/engine-process.ts';
import { relativePath } from '../wire/relative-path.ts';
import { INVALID_PARAMS, NOT_FOUND, paramsOf, RequestFault } from '../wire/request-fault.ts';
import { TailBuffer } from './tail-buffer.ts';

const OUTPUT_LIMIT_BYTES = 1_048_576;
const TERMINALS = 50;
/** The output of a command that was killed can be held open by what it left. */
const OUTPUT_CLOSES_WITHIN_MS = 1_000;

const CreateParams = z.object({
  command: z.string().min(1),
  args: z.array(z.string()).nullish(),
  env: z.array(z.object({ name: z.string(), value: z.string() })).nullish(),
  cwd: z.string().nullish(),
  outputByteLimit: z.int().nonnegative().nullish(),
});
const TerminalParams = z.object({ terminalId: z.string() });

export interface TerminalParts {
  readonly workspace: string;
  /** The workspace by each of its names. */
  readonly roots: readonly string[];
  /** The environment of a command, with what the agent gives it. */
  env(extra: Record<string, string>): Record<string, string>;
  start(options: Pick<EngineProcessOptions, 'command' | 'cwd' | 'env'>): EngineProcess;
}

interface Terminal {
  readonly process: EngineProcess;
  readonly output: TailBuffer;
  /** Set when the command has ended and its output is whole. */
  exit: EngineExit | null;
  readonly ended: Promise<EngineExit>;
}

/**
 * The commands that an agent runs through its client.
 *
 * **Contract:** they work in the workspace, with the environment that an engine is allowed and without its keys. They are dead when
 * `release` or `close` resolves. Of an output that is over its limit the end is kept.
 */
export class ClientTerminals {
  readonly #parts: TerminalParts;
  readonly #terminals = new Map<string, Terminal>();
  #created = 0;

  constructor(parts: TerminalParts) {
    this.#parts = parts;
  }

  async create(params: unknown): Promise<{ terminalId: string }> {
    const { command, args, env, cwd, outputByteLimit } = paramsOf(CreateParams, params);
    if (this.#terminals.size >= TERMINALS) {
      throw new RequestFault(INVALID_PARAMS, `there are ${String(TERMINALS)} terminals; release one`);
    }
    const folder = await this.#folderOf(cwd ?? '.');
    const terminalId = `terminal-${String(++this.#created)}`;
    const extra = Object.fromEntries((env ?? []).map(({ name, value }) => [name, value]));
    const process = this.#parts.start({
      command: commandOf(command, args ?? []),
      cwd: folder,
      env: this.#parts.env(extra),
    });
    process.stdin.end();
    const output = new TailBuffer(Math.min(outputByteLimit ?? OUTPUT_LIMIT_BYTES, OUTPUT_LIMIT_BYTES));
    const closed = new Promise<void>((resolve) => {
      process.stdout.on('data', (chunk: Buffer) => output.append(chunk));
      process.stdout.on('error', () => undefined);
      process.stdout.once('close', resolve);
    });
    const ended = process.exited.then(async (exit) => {
      await Promise.race([closed, delay(OUTPUT_CLOSES_WITHIN_MS, undefined, { ref: false })]);
      return exit;
    });
    const terminal: Terminal = { process, output, exit: null, ended };
    void ended.then((exit) => (terminal.exit = exit));
    this.#terminals.set(terminalId, terminal);
    return { terminalId };
  }

  output(params: unknown): { output: string; truncated: boolean; exitStatus: object | null } {
    const { output, exit } = this.#terminal(params);
    return {
      output: output.text,
      truncated: output.isCut,
      exitStatus: exit === null ? null : statusOf(exit),
    };
  }

  async waitForExit(params: unknown): Promise<object> {
    return statusOf(await this.#terminal(params).ended);
  }

  async kill(params: unknown): Promise<object> {
    await this.#terminal(params).process.kill();
    return {};
  }

  async release(params: unknown): Promise<object> {
    const { terminalId } = paramsOf(TerminalParams, params);
    const { process } = this.#terminal(params);
    this.#terminals.delete(terminalId);
    await process.kill();
    return {};
  }

  async close(): Promise<void> {
    const processes = [...this.#terminals.values()].map(({ process }) => process);
    this.#terminals.clear();
    await Promise.all(processes.map(async (process) => await process.kill()));
  }

  #terminal(params: unknown): Terminal {
    const { terminalId } = paramsOf(TerminalParams, params);
    const terminal = this.#terminals.get(terminalId);
    if (terminal !== undefined) return terminal;
    throw new RequestFault(NOT_FOUND, `there is no terminal ${terminalId.slice(0, 100)}`);
  }

  async #folderOf(cwd: string): Promise<string> {
    try {
      return (await placeInWorkspace(this.#parts.workspace, relativePath(this.#parts.roots, cwd))).place;
    } catch (error) {
      if (error instanceof ToolFault) throw new RequestFault(INVALID_PARAMS, error.message);
      throw error;
    }
  }
}

/** Both outputs in one, as a terminal has them. Without arguments the command is a line for the shell, as editors take it. */
function commandOf(command: string, args: readonly string[]): string[] {
  if (args.length === 0) return ['/bin/sh', '-c', `exec 2>&1\n${command}`];
  return ['/bin/sh', '-c', 'exec 2>&1; exec "$0" "$@"', command, ...args];
}

function statusOf({ code, signal }: EngineExit): object {
  return { exitCode: code, signal };
}
