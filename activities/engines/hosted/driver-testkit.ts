import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { EngineSettings, type EngineSettingsOf, type HostedKind } from '../../../infra/engine-settings.ts';
import { DriverStage, folder, tracked } from '../driver-testkit.ts';
import type { DriverContext, NativeSession, OpenedSession, TurnEnd } from '../driver.ts';
import type { HostedDriver } from './driver.ts';
import { createHostedEngine } from './engine.ts';

const FIXTURES = resolve(import.meta.dirname, '../../../tests/fixtures/engines');

/** The scripted agent of a kind: each line of a prompt is a step (`scripted-answer.ts`). */
export const SCRIPTED: Readonly<Record<HostedKind, string>> = {
  'ai-sdk': join(FIXTURES, 'ai-sdk-agent.ts'),
  langgraph: join(FIXTURES, 'langgraph-agent.ts'),
};

/** A platform for the driver of a module, and the home in which its sessions are. */
export class Stage extends DriverStage {
  runId = 'run-1';
  readonly kind: HostedKind;
  readonly #home: string;
  readonly #settings: Readonly<Record<string, unknown>>;

  constructor(
    workspace: string,
    host: { kind: HostedKind; home: string; settings: Readonly<Record<string, unknown>> },
  ) {
    super(workspace);
    this.kind = host.kind;
    this.#home = host.home;
    this.#settings = host.settings;
  }

  override get context(): DriverContext {
    return { ...super.context, runId: this.runId };
  }

  /** The same installation, as a process after this one finds it. */
  later(runId = this.runId): Stage {
    const { answer, kind } = this;
    const next = new Stage(this.workspace, { kind, home: this.#home, settings: this.#settings });
    return Object.assign(next, { answer, runId });
  }

  driver(): HostedDriver {
    const settings = { kind: this.kind, module: SCRIPTED[this.kind], ...this.#settings };
    const parsed = EngineSettings.parse(settings) as EngineSettingsOf<HostedKind>;
    const deps = { config: { home: this.#home } };
    const engine = createHostedEngine('scripted', parsed, { deps, translate: () => ({ said: undefined }) });
    return tracked(engine.createDriver(this.context) as HostedDriver);
  }

  /** One turn of a new session, or of a known one, to its end. */
  async turn(script: string, known: NativeSession | null = null): Promise<{ session: OpenedSession; end: TurnEnd }> {
    const driver = this.driver();
    const session = await driver.open(known);
    return { session, end: await driver.prompt(script) };
  }

  /** Begins a turn, and closes its driver when `when` holds. */
  async cutOff(script: string, when: () => boolean): Promise<OpenedSession> {
    const driver = this.driver();
    const session = await driver.open(null);
    const end = driver.prompt(script);
    end.catch(() => undefined);
    await this.until(when);
    await driver.close();
    return session;
  }

  /** What the agent of the AI SDK said as text. */
  said(): string {
    return this.parts('text-delta')
      .map(({ text }) => String(text))
      .join('');
  }

  parts(type: string): Record<string, unknown>[] {
    return this.frames.filter((frame) => frame.type === type).map((frame) => frame['part'] as Record<string, unknown>);
  }
}

export async function stage(kind: HostedKind, settings: Readonly<Record<string, unknown>> = {}): Promise<Stage> {
  return new Stage(await folder(), { kind, home: await folder(), settings });
}

/** A module with this text, as an engine. */
export async function stageOf(kind: HostedKind, text: string): Promise<Stage> {
  const module = join(await folder(), 'agent.mjs');
  await writeFile(module, text);
  return await stage(kind, { module });
}
