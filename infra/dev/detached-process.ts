import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export type DetachedOptions = {
  readonly env: NodeJS.ProcessEnv;
  readonly stdio: SpawnOptions['stdio'];
  /** What asks it to end in good order. */
  readonly stopSignal: NodeJS.Signals;
  readonly cwd?: string;
  readonly uid?: number;
  readonly gid?: number;
};

/**
 * A process in a group of its own, so that a terminal's Ctrl-C reaches only the one that started it, which then stops its
 * processes in the right order.
 *
 * **Contract:** when the process that started it dies, however it dies, this one is asked to stop (`stopSignal`). `exited`
 * says how it ended and never rejects.
 */
export class DetachedProcess {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly exited: Promise<string>;
  readonly #stopSignal: NodeJS.Signals;

  private constructor(child: ChildProcess, pid: number, stopSignal: NodeJS.Signals) {
    this.child = child;
    this.pid = pid;
    this.#stopSignal = stopSignal;
    this.exited = new Promise((resolve) => {
      child.once('exit', (code, signal) => resolve(signal === null ? `exit code ${code}` : signal));
    });
    void this.exited.then(guard(pid, stopSignal));
  }

  static async start(command: string, args: readonly string[], options: DetachedOptions): Promise<DetachedProcess> {
    const { stopSignal, ...rest } = options;
    const child = spawn(command, args, { ...rest, detached: true });
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', reject);
    });
    child.on('error', () => {}); // a signal or message to one that has just gone
    if (child.pid === undefined) throw new Error(`${command} has no process id`);
    return new DetachedProcess(child, child.pid, stopSignal);
  }

  hasExited(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  kill(signal: NodeJS.Signals): void {
    if (!this.hasExited()) this.child.kill(signal);
  }

  /** Asks it to stop and waits; one that is still there after `graceMs` is killed. */
  async stop(graceMs: number): Promise<void> {
    this.kill(this.#stopSignal);
    if (await this.#exitsWithin(graceMs)) return;
    this.kill('SIGKILL');
    await this.exited;
  }

  async #exitsWithin(ms: number): Promise<boolean> {
    const timeout = new AbortController();
    const late = sleep(ms, false, { signal: timeout.signal }).catch(() => false);
    const inTime = await Promise.race([this.exited.then(() => true), late]);
    timeout.abort();
    return inTime;
  }
}

/**
 * A shell that waits for the end of its standard input, which is the end of this process, and then signals `pid`. Gives what
 * tells it that the process has ended by itself.
 */
function guard(pid: number, signal: NodeJS.Signals): () => void {
  if (process.platform === 'win32') return () => {};
  const script = 'read -r _ || kill -s "$1" "$2"';
  const shell = spawn('sh', ['-c', script, 'guard', signal.slice('SIG'.length), String(pid)], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  shell.on('error', () => {});
  shell.stdin.on('error', () => {});
  shell.unref();
  (shell.stdin as Socket).unref();
  return () => shell.stdin.end('ended\n');
}
