import assert from 'node:assert/strict';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pino } from 'pino';
import { vi } from 'vitest';
import { TidemarkError } from '../../../contract/errors.ts';
import type { NativeFrame } from '../../../contract/frames.ts';
import { EngineSettings, type EngineSettingsOf } from '../../../infra/engine-settings.ts';
import type { Driver, DriverContext, EngineAnswer, EngineQuestion } from '../driver.ts';
import { readProcesses } from '../process/process-table.ts';
import { createAcpEngine } from './engine.ts';

const AGENT = resolve(import.meta.dirname, '../../../tests/fixtures/engines/acp-agent.ts');

/** A platform for one driver: it stores in memory, and answers as the test says. */
export class Stage {
  readonly frames: NativeFrame[] = [];
  readonly questions: EngineQuestion[] = [];
  readonly kept: { name: string; contentType: string; text: string }[] = [];
  readonly expected: ('model' | 'tool')[] = [];
  readonly abort = new AbortController();
  readonly workspace: string;
  answer: (question: EngineQuestion) => Promise<EngineAnswer> = () => Promise.resolve({ status: 'cancelled' });
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
      ask: async (question) => {
        this.questions.push(question);
        return await this.answer(question);
      },
      keep: (kept) => {
        this.kept.push(kept);
        const artifact = { artifactId: `sha256:${String(this.kept.length)}`, bytes: kept.text.length };
        return Promise.resolve({ name: kept.name, artifact: artifact as never });
      },
      expect: (who) => this.expected.push(who),
    };
  }

  driver(options: readonly string[] = [], settings: Partial<EngineSettingsOf<'acp'>> = {}): Driver {
    const command = settings.command ?? [process.execPath, AGENT, ...options];
    const parsed = EngineSettings.parse({ kind: 'acp', ...settings, command }) as EngineSettingsOf<'acp'>;
    const engine = createAcpEngine('scripted', parsed, { find: () => command } as never);
    const driver = engine.createDriver(this.context);
    drivers.push(driver);
    return driver;
  }

  types(): string[] {
    return this.frames.map(({ type }) => type);
  }

  /** What the agent said as its message. */
  said(): string {
    return this.updates('agent_message_chunk')
      .map((update) => (update['content'] as { text: string }).text)
      .join('');
  }

  updates(kind: string): Record<string, unknown>[] {
    return this.frames
      .filter(({ type }) => type === 'session/update')
      .map((frame) => (frame['params'] as { update: Record<string, unknown> }).update)
      .filter((update) => update['sessionUpdate'] === kind);
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

export async function stage(): Promise<Stage> {
  return new Stage(await folder());
}

/** One turn of a new session, to its end. */
export async function turn(at: Stage, script: string, options: readonly string[] = []) {
  const driver = at.driver(options);
  await driver.open(null);
  return await driver.prompt(script);
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
  const made = await realpath(await mkdtemp(join(tmpdir(), 'acp-')));
  folders.push(made);
  return made;
}

/** For `afterEach`: no driver and no folder is left. */
export async function cleared(): Promise<void> {
  await Promise.all(drivers.splice(0).map((driver) => driver.close()));
  await Promise.all(folders.splice(0).map((each) => rm(each, { recursive: true, force: true })));
}
