import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { engineEnv } from '../../process/engine-env.ts';
import type { EngineExit } from '../../process/engine-process.ts';
import { OutputBuffer, type KeptBytes } from './output-buffer.ts';
import { ShownOutput } from './shown-output.ts';
import { ToolFault, type ToolContext } from './tool.ts';

/** When no process of a command is left, what is still in its pipe is read within this time. */
const OUTPUT_ENDS_WITHIN_MS = 2_000;
/** An output that is not kept whole any more is read with pauses: a command that never stops printing must not use up the worker. */
const PAUSE_MS = 2;

/** How a command ended, and what is kept of what it printed. */
export interface CommandEnd {
  readonly exit: EngineExit;
  /** It was stopped when its time was over. */
  readonly isLate: boolean;
  readonly timeoutMs: number;
  readonly output: KeptBytes;
}

/**
 * Runs a command for `/bin/sh` to its end.
 *
 * **Contract:** no process of it is left when this resolves or rejects, however it ended. On abort it is ended, and the reason is
 * thrown. Its environment is what every program needs and nothing of the worker's own.
 */
export async function runCommand(
  { command, folder, timeoutMs }: { command: string; folder: string; timeoutMs: number },
  { start, signal, print, limits }: ToolContext,
): Promise<CommandEnd> {
  signal.throwIfAborted();
  const output = new OutputBuffer(limits.shellKeptBytes);
  const shown = new ShownOutput(print);
  const child = start({
    // both outputs in one, as a terminal has them
    command: ['/bin/sh', '-c', `exec 2>&1\n${command}`],
    cwd: folder,
    env: engineEnv({ passEnv: [], env: {} }),
  });
  const late = AbortSignal.timeout(timeoutMs);
  const stop = AbortSignal.any([signal, late]);
  const kill = (): void => void child.kill();
  stop.addEventListener('abort', kill, { once: true });
  try {
    child.stdin.end();
    const read = readAll(child.stdout, (chunk) => {
      output.append(chunk);
      shown.append(chunk);
      return output.isCut;
    });
    const exit = await child.exited;
    const isLate = late.aborted && exit.code !== 0;
    await child.kill();
    await within(OUTPUT_ENDS_WITHIN_MS, read);
    signal.throwIfAborted();
    if (exit.spawnError !== undefined) throw new ToolFault('the command could not be started; try again later');
    return { exit, isLate, timeoutMs, output: output.kept };
  } finally {
    stop.removeEventListener('abort', kill);
    shown.end();
  }
}

/** Hands on what comes; `take` says whether there is no hurry. */
async function readAll(stream: Readable, take: (chunk: Buffer) => boolean): Promise<void> {
  try {
    for await (const chunk of stream) if (take(chunk as Buffer)) await sleep(PAUSE_MS);
  } catch {
    // the pipe broke with its process: what came is what there is
  }
}

async function within(limitMs: number, work: Promise<void>): Promise<void> {
  const enough = new AbortController();
  const late = sleep(limitMs, undefined, { signal: enough.signal }).catch(() => undefined);
  await Promise.race([work, late]);
  enough.abort();
}
