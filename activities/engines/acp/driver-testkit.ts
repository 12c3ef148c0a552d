import { resolve } from 'node:path';
import { EngineSettings, type EngineSettingsOf } from '../../../infra/engine-settings.ts';
import { DriverStage, folder, tracked } from '../driver-testkit.ts';
import type { AcpDriver } from './driver.ts';
import { createAcpEngine } from './engine.ts';

const AGENT = resolve(import.meta.dirname, '../../../tests/fixtures/engines/acp-agent.ts');

/** A platform for a driver of the scripted agent. */
export class Stage extends DriverStage {
  driver(options: readonly string[] = [], settings: Partial<EngineSettingsOf<'acp'>> = {}): AcpDriver {
    const command = settings.command ?? [process.execPath, AGENT, ...options];
    const parsed = EngineSettings.parse({ kind: 'acp', ...settings, command }) as EngineSettingsOf<'acp'>;
    const engine = createAcpEngine('scripted', parsed, { find: () => command } as never);
    return tracked(engine.createDriver(this.context) as AcpDriver);
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
