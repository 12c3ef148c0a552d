import { resolve } from 'node:path';
import { EngineSettings, type EngineSettingsOf } from '../../../infra/engine-settings.ts';
import { DriverStage, folder, tracked } from '../driver-testkit.ts';
import type { TurnEnd } from '../driver.ts';
import type { PiDriver } from './driver.ts';
import { createPiEngine } from './engine.ts';

const PI = resolve(import.meta.dirname, '../../../tests/fixtures/engines/pi-rpc.ts');

/** A platform for a driver of the scripted pi. */
export class Stage extends DriverStage {
  driver(options: readonly string[] = [], settings: Partial<EngineSettingsOf<'pi'>> = {}): PiDriver {
    const command = settings.command ?? [process.execPath, PI, ...options];
    const parsed = EngineSettings.parse({ kind: 'pi', ...settings, command }) as EngineSettingsOf<'pi'>;
    const engine = createPiEngine('scripted', parsed, { find: () => command });
    return tracked(engine.createDriver(this.context) as PiDriver);
  }

  /** What the agent said as its messages. */
  said(): string {
    return this.fieldsOf('message_update', 'assistantMessageEvent')
      .map(({ delta }) => String(delta))
      .join('');
  }

  /** What a tool told the model at its end. */
  told(): string[] {
    return this.fieldsOf('tool_execution_end', 'result').map(
      ({ content }) => (content as { text: string }[])[0]?.text ?? '',
    );
  }

  fieldsOf(type: string, field: string): Record<string, unknown>[] {
    return this.frames.filter((frame) => frame.type === type).map((frame) => frame[field] as Record<string, unknown>);
  }
}

export async function stage(): Promise<Stage> {
  return new Stage(await folder());
}

/** One turn of a new session, to its end. */
export async function turn(at: Stage, script: string, options: readonly string[] = []): Promise<TurnEnd> {
  const driver = at.driver(options);
  await driver.open(null);
  return await driver.prompt(script);
}
