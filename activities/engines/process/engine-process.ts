import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { TidemarkError } from '../../../contract/errors.ts';
import { findExecutable } from '../../../infra/executable.ts';
import type { Logger } from '../../../infra/log.ts';
import { endProcesses, GRACE_MS, MARK_SEPARATOR, pidsOf, signal } from './end-processes.ts';
import { launchEngine, type LaunchedEngine } from './engine-launch.ts';
import { watchMemory } from './memory-watch.ts';
import { hasProcessTable, readProcesses, type ProcessEntry } from './process-table.ts';
import { StderrTail } from './stderr-tail.ts';

export { killMarked } from './end-processes.ts';

export interface EngineProcessOptions {
  readonly command: readonly string[];
  readonly cwd: string;
  /** All of its environment: nothing else is inherited. */
  readonly env: Readonly<Record<string, string>>;
  /** Resident memory of its processes together, at most. */
  readonly memoryMb: number;
  /** Whose engine it is, the run's id: `killMarked` finds it by this. */
  readonly mark: string;
  readonly log: Logger;
}

export interface EngineProcess {
  /** 0 when it could not be started. Signal it only by `interrupt` and `kill`. */
  readonly pid: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** Never rejects. */
  readonly exited: Promise<EngineExit>;
  /** Asks the engine to stop what it does, as Ctrl-C does: SIGINT to its first process, and to nobody once that has ended. */
  interrupt(): void;
  /** Resolves when no process of the engine is left. May be called more than once; never throws. */
  kill(): Promise<void>;
}

export interface EngineExit {
  readonly code: number | null;
  readonly signal: string | null;
  /** The last 8 KiB of what it wrote to standard error. */
  readonly stderrTail: string;
  readonly overMemory: boolean;
  /** Why there never was a process. */
  readonly spawnError?: TidemarkError;
}

/** What the engine wrote last may still be in the pipe when it has ended; a grandchild may hold that pipe for ever. */
const LAST_WORDS_WITHIN_MS = 500;
/** Only where there is no process table: so long the end of a killed group is waited for. */
const GROUP_GONE_WITHIN_MS = 2_000;

/**
 * Starts an engine's process.
 *
 * **Contract:** the engine never outlives this process, however this one ends (`launchEngine`), nor its run (`killMarked`); what
 * it started is ended when it ends itself, also what left its process group where `/proc` shows it. Over `memoryMb` it is
 * killed and `overMemory` is true. What cannot be started is told by `exited` as `spawnError`.
 */
export function startEngineProcess(options: EngineProcessOptions): EngineProcess {
  const [name = '', ...args] = options.command;
  const executable = findExecutable(name, { path: options.env['PATH'] ?? '', cwd: options.cwd });
  if (executable === null) return notStarted(unavailable(`there is no program ${name} that may be run`));
  if (!isFolder(options.cwd)) return notStarted(unavailable(`there is no folder ${options.cwd} to start ${name} in`));
  // a mark of its own: to end this process is not to end another one of the same run
  const mark = `${options.mark}${MARK_SEPARATOR}${randomUUID()}`;
  const launched = launchEngine({ ...options, mark, command: [executable, ...args] });
  const { pid } = launched.child;
  return pid === undefined ? failedSpawn(launched, name) : new GroupedProcess(launched, pid, { ...options, mark });
}

class GroupedProcess implements EngineProcess {
  readonly pid: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly exited: Promise<EngineExit>;
  readonly #launched: LaunchedEngine;
  readonly #ended: Promise<{ code: number | null; signal: string | null }>;
  readonly #mark: string;
  readonly #log: Logger;
  #killed: Promise<void> | null = null;
  #overMemory = false;

  constructor(launched: LaunchedEngine, pid: number, { mark, memoryMb, log }: EngineProcessOptions) {
    const { child } = launched;
    this.pid = pid;
    this.stdin = child.stdin;
    this.stdout = child.stdout;
    this.#launched = launched;
    this.#mark = mark;
    this.#log = log.child({ enginePid: pid });
    child.on('error', () => {});
    child.stdin.on('error', () => {}); // who writes is told by `exited`
    const stderr = new StderrTail(child.stderr, (line) => this.#log.debug({ line }, 'engine wrote to standard error'));
    this.#ended = new Promise((resolve) => child.once('exit', (code, by) => resolve({ code, signal: by })));
    const unwatch = watchMemory({
      limitKib: memoryMb * 1_024,
      isOne: this.#isMine,
      onExceeded: (residentKib) => {
        this.#overMemory = true;
        this.#log.warn({ residentMb: Math.round(residentKib / 1_024), memoryMb }, 'engine over its memory: killed');
        void this.kill();
      },
    });
    this.exited = this.#ended.then(async (end) => {
      unwatch();
      void this.kill();
      const enough = new AbortController();
      const late = sleep(LAST_WORDS_WITHIN_MS, undefined, { signal: enough.signal }).catch(() => {});
      await Promise.race([stderr.ended, late]);
      enough.abort();
      return { ...end, stderrTail: stderr.text, overMemory: this.#overMemory };
    });
  }

  interrupt(): void {
    // once it has ended its id may be another's
    if (this.#launched.child.exitCode === null && this.#launched.child.signalCode === null) signal(this.pid, 'SIGINT');
  }

  kill(): Promise<void> {
    this.#killed ??= this.#kill();
    return this.#killed;
  }

  async #kill(): Promise<void> {
    const allGone = hasProcessTable ? await endProcesses(this.#members) : await this.#endWithoutTable();
    if (!allGone) this.#log.error('processes of an engine could not be killed');
    // the watcher is left; until now it has kept the group's id from being given to others
    signal(-this.pid, 'SIGKILL');
    this.#launched.lifeline.destroy();
    if (allGone) await this.#ended;
  }

  readonly #isMine = (entry: ProcessEntry): boolean => entry.groupId === this.pid || entry.mark === this.#mark;

  readonly #members = async (): Promise<number[]> => pidsOf(await readProcesses(), this.#isMine);

  async #endWithoutTable(): Promise<boolean> {
    signal(-this.pid, 'SIGTERM');
    const enough = new AbortController();
    const late = sleep(GRACE_MS, undefined, { signal: enough.signal }).catch(() => {});
    await Promise.race([this.#ended, late]);
    enough.abort();
    signal(-this.pid, 'SIGKILL');
    for (const giveUpAt = performance.now() + GROUP_GONE_WITHIN_MS; performance.now() < giveUpAt; await sleep(25)) {
      if (!isThere(-this.pid)) return true;
    }
    return false;
  }
}

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** No process could be made at all: too many of them, or too long a command. */
function failedSpawn({ child, lifeline }: LaunchedEngine, name: string): EngineProcess {
  lifeline.destroy();
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on('error', () => {});
  const failure = new Promise<Error>((resolve) => child.once('error', resolve));
  const exited = failure.then((error) => exitOf(unavailable(`${name} cannot be started: ${error.message}`)));
  const { stdin, stdout } = child;
  return { pid: 0, stdin, stdout, exited, interrupt: () => {}, kill: () => Promise.resolve() };
}

function notStarted(why: TidemarkError): EngineProcess {
  return {
    pid: 0,
    stdin: new Writable({ write: (_chunk, _encoding, done) => done() }),
    stdout: Readable.from([]),
    exited: Promise.resolve(exitOf(why)),
    interrupt: () => {},
    kill: () => Promise.resolve(),
  };
}

function exitOf(spawnError: TidemarkError): EngineExit {
  return { code: null, signal: null, stderrTail: spawnError.message, overMemory: false, spawnError };
}

function unavailable(message: string): TidemarkError {
  return new TidemarkError(
    'engine_unavailable',
    message,
    'Install the engine (npm run engines -- list), or correct its command in tidemark.config.ts.',
  );
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
