import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DetachedProcess } from './detached-process.ts';
import { StartError } from './start-error.ts';

const LAST_WORDS_WITHIN_MS = 100;
const ROOT = join(import.meta.dirname, '..', '..');

export type NodeChild = {
  readonly process: DetachedProcess;
  /** Where it serves, when it said so. */
  readonly url: string | undefined;
};

export type NodeChildOptions = {
  readonly env: NodeJS.ProcessEnv;
  readonly readyWithinMs: number;
  /** Every line that it writes, to either output. */
  readonly onLine: (line: string) => void;
};

/**
 * Starts a TypeScript file of this repository as a process of its own and waits until it says over IPC that it is ready
 * (`{ type: 'ready', url? }`).
 *
 * **Contract:** if that does not happen, the process is gone when this rejects.
 */
export async function startNodeChild(
  entry: string,
  options: NodeChildOptions,
  signal?: AbortSignal,
): Promise<NodeChild> {
  const child = await DetachedProcess.start(process.execPath, [join(ROOT, entry)], {
    cwd: ROOT,
    env: options.env,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    stopSignal: 'SIGTERM',
  });
  for (const output of [child.child.stdout, child.child.stderr]) if (output) readLines(output, options.onLine);
  try {
    return { process: child, url: await untilReady(child, basename(entry), options.readyWithinMs, signal) };
  } catch (error) {
    await child.stop(2_000);
    await sleep(LAST_WORDS_WITHIN_MS); // what it said last may still be in the pipe
    throw error;
  }
}

function untilReady(
  child: DetachedProcess,
  name: string,
  withinMs: number,
  signal?: AbortSignal,
): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const fail = (why: string) => reject(new StartError(`${name} ${why}`));
    const timer = setTimeout(() => fail(`was not ready within ${withinMs / 1000} s`), withinMs);
    const abort = () => reject(signal?.reason as Error);
    signal?.addEventListener('abort', abort, { once: true });
    const settle = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    };
    child.child.on('message', (message) => {
      if (!isReady(message)) return;
      settle();
      resolve(message.url);
    });
    child.child.once('exit', (code, exitSignal) => {
      settle();
      fail(`stopped before it was ready (${exitSignal ?? `exit code ${code}`})`);
    });
    if (signal?.aborted) abort();
  });
}

function isReady(message: unknown): message is { type: 'ready'; url?: string } {
  return typeof message === 'object' && message !== null && 'type' in message && message.type === 'ready';
}

function readLines(output: NodeJS.ReadableStream, onLine: (line: string) => void): void {
  let rest = '';
  output.setEncoding('utf8');
  output.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) onLine(line);
  });
  output.on('end', () => {
    if (rest !== '') onLine(rest);
  });
}
