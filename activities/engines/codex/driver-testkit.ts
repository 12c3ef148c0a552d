import { resolve } from 'node:path';
import { EngineSettings, type EngineSettingsOf } from '../../../infra/engine-settings.ts';
import { DriverStage, folder, tracked } from '../driver-testkit.ts';
import type { CodexDriver } from './driver.ts';
import { createCodexEngine } from './engine.ts';

const SERVER = resolve(import.meta.dirname, '../../../tests/fixtures/engines/codex-app-server.ts');

/** A platform for a driver of the scripted app-server. */
export class Stage extends DriverStage {
  driver(options: readonly string[] = [], settings: Partial<EngineSettingsOf<'codex'>> = {}): CodexDriver {
    const command = settings.command ?? [process.execPath, SERVER, ...options];
    const parsed = EngineSettings.parse({ kind: 'codex', ...settings, command }) as EngineSettingsOf<'codex'>;
    const engine = createCodexEngine('scripted', parsed, { find: () => command });
    return tracked(engine.createDriver(this.context) as CodexDriver);
  }

  /** What the agent said as its messages. */
  said(): string {
    return this.paramsOf('item/agentMessage/delta')
      .map(({ delta }) => String(delta))
      .join('');
  }

  paramsOf(type: string): Record<string, unknown>[] {
    return this.frames
      .filter((frame) => frame.type === type)
      .map((frame) => frame['params'] as Record<string, unknown>);
  }
}

export async function stage(): Promise<Stage> {
  return new Stage(await folder());
}

/** One turn of a new thread, to its end. */
export async function turn(at: Stage, script: string) {
  const driver = at.driver();
  await driver.open(null);
  return await driver.prompt(script);
}
