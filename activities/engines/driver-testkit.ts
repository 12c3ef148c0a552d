import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { vi } from 'vitest';
import { TidemarkError } from '../../contract/errors.ts';
import type { NativeFrame } from '../../contract/frames.ts';
import type { Driver, DriverContext, EngineAnswer, EngineQuestion } from './driver.ts';
import { readProcesses } from './process/process-table.ts';

/** A platform for the driver of a process: it stores in memory, and answers as the test says. */
export class DriverStage {
  readonly frames: NativeFrame[] = [];
  readonly questions: EngineQuestion[] = [];
  readonly kept: { name: string; contentType: string; text: string }[] = [];
  readonly expected: ('model' | 'tool')[] = [];
  /** What the driver said that its session is called. */
  readonly names: string[] = [];
  readonly abort = new AbortController();
  readonly workspace: string;
  answer: (question: EngineQuestion, withdrawn?: AbortSignal) => Promise<EngineAnswer> = () =>
    Promise.resolve({ status: 'cancelled' });
  onEmit: (frame: NativeFrame) => Promise<void> = () => Promise.resolve();
  model: string | null = null;

  constructor(workspace: string) {
    this.workspace = workspace;
  }

  get context(): DriverContext {
    return {
      runId: `run-${this.workspace.slice(-6)}`,
      threadId: 'thread',
      workspace: this.workspace,
      model: this.model,
      log: pino({ level: 'silent' }),
      signal: this.abort.signal,
      emit: async (frame) => {
        await this.onEmit(frame);
        this.frames.push(frame);
      },
      ask: async (question, withdrawn) => {
        this.questions.push(question);
        return await this.answer(question, withdrawn);
      },
      keep: ({ name, contentType, text }) => {
        this.kept.push({ name, contentType, text });
        const sha256 = createHash('sha256').update(text).digest('hex');
        const bytes = Buffer.byteLength(text);
        return Promise.resolve({ name, artifact: { artifactId: `sha256:${sha256}`, bytes, sha256, contentType } });
      },
      named: (nativeSessionId) => {
        this.names.push(nativeSessionId);
        return Promise.resolve();
      },
      expect: (who) => this.expected.push(who),
    };
  }

  types(): string[] {
    return this.frames.map(({ type }) => type);
  }

  frame(type: string): NativeFrame {
    const found = this.frames.find((frame) => frame.type === type);
    if (found === undefined) throw new Error(`no frame ${type} in ${this.types().join(' ')}`);
    return found;
  }

  async until(condition: () => boolean): Promise<void> {
    await vi.waitFor(() => assert(condition()), { timeout: 20_000, interval: 10 });
  }
}

const drivers: Driver[] = [];
const folders: string[] = [];

/** Closes it with `cleared`, if the test does not. */
export function tracked<T extends Driver>(driver: T): T {
  drivers.push(driver);
  return driver;
}

export async function faultOf(work: Promise<unknown>): Promise<TidemarkError> {
  const error: unknown = await work.then(
    () => null,
    (fault: unknown) => fault,
  );
  if (error instanceof TidemarkError) return error;
  throw new Error(`no fault but ${String(error)}`);
}

/** One that has ended and waits for its parent to notice is not. */
export async function isAlive(pid: number): Promise<boolean> {
  return (await readProcesses()).some((entry) => entry.pid === pid);
}

/** Another folder, removed with the workspaces. */
export async function folder(): Promise<string> {
  const made = await realpath(await mkdtemp(join(tmpdir(), 'engine-')));
  folders.push(made);
  return made;
}

/** For `afterEach`: no driver and no folder is left. */
export async function cleared(): Promise<void> {
  await Promise.all(drivers.splice(0).map((driver) => driver.close()));
  await Promise.all(folders.splice(0).map((each) => rm(each, { recursive: true, force: true })));
}
