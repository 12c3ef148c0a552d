import { resolve } from 'node:path';
import { EngineSettings, type EngineSettingsOf } from '../../../infra/engine-settings.ts';
import { DriverStage, folder, tracked } from '../driver-testkit.ts';
import type { ClaudeDriver } from './driver.ts';
import { createClaudeEngine } from './engine.ts';

const PROGRAM = resolve(import.meta.dirname, '../../../tests/fixtures/engines/claude-program.ts');

/** A platform for a driver of the scripted program. */
export class Stage extends DriverStage {
  driver(options: readonly string[] = [], settings: Partial<EngineSettingsOf<'claude'>> = {}): ClaudeDriver {
    const command = settings.command ?? [process.execPath, PROGRAM, ...options];
    const parsed = EngineSettings.parse({ kind: 'claude', ...settings, command }) as EngineSettingsOf<'claude'>;
    const engine = createClaudeEngine('scripted', parsed, { find: () => command });
    return tracked(engine.createDriver(this.context) as ClaudeDriver);
  }

  /** What the agent said as its messages. */
  said(): string {
    return this.paramsOf('stream_event/content_block_delta')
      .map(({ event }) => (event as { delta: { text?: string } }).delta.text ?? '')
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

/** One turn of a new session, to its end. */
export async function turn(at: Stage, script: string, options: readonly string[] = []) {
  const driver = at.driver(options);
  await driver.open(null);
  return await driver.prompt(script);
}
