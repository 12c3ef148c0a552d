import { readFile } from 'node:fs/promises';
import type { NodeChild } from '../infra/dev/node-child.ts';

/** What the kernel says that a process has used so far. */
export interface Usage {
  readonly cpuMs: number;
  readonly residentKilobytes: number;
}

const STOP_WITHIN_MS = 15_000;
/** Linux counts CPU time in hundredths of a second. */
const TICK_MS = 10;

/** A child process of the bench: spoken to over IPC, and watched from outside, so that what is measured is the real thing. */
export class BenchProcess {
  readonly #child: NodeChild;

  constructor(child: NodeChild) {
    this.#child = child;
  }

  get url(): string {
    if (this.#child.url === undefined) throw new Error('this process serves nothing');
    return this.#child.url;
  }

  tell(message: object): void {
    this.#child.process.child.send(message);
  }

  /** Sends a message and waits for the answer, one at a time. */
  async ask<T>(message: object): Promise<T> {
    const { child, exited } = this.#child.process;
    const answer = new Promise<T>((resolve) => child.once('message', (answered) => resolve(answered as T)));
    child.send(message);
    const gone = exited.then((how): never => {
      throw new Error(`a process of the bench ended (${how})`);
    });
    return await Promise.race([answer, gone]);
  }

  /** @throws Error where there is no /proc: these figures are taken on Linux only. */
  async usage(): Promise<Usage> {
    const folder = `/proc/${String(this.#child.process.pid)}`;
    const stat = await readFile(`${folder}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const status = await readFile(`${folder}/status`, 'utf8');
    return {
      cpuMs: (Number(fields[11]) + Number(fields[12])) * TICK_MS,
      residentKilobytes: Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]),
    };
  }

  async stop(): Promise<void> {
    await this.#child.process.stop(STOP_WITHIN_MS);
  }
}
