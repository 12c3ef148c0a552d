import { resolve } from 'node:path';
import { EngineSettings, type EngineSettingsOf } from '../../../infra/engine-settings.ts';
import { DriverStage, folder, tracked } from '../driver-testkit.ts';
import { CodexExecDriver } from './driver.ts';
import { partsOf } from './engine.ts';
import { CODEX_EXEC_PROTOCOL_VERSION } from './negotiated.ts';

const PROGRAM = resolve(import.meta.dirname, '../../../tests/fixtures/engines/codex-exec.ts');

/** Less patience than it has in the product. */
export const ENDS_WITHIN_MS = 200;

/** A platform for a driver of the scripted command line, whose home is the workspace. */
export class Stage extends DriverStage {
  driver(options: readonly string[] = [], settings: Partial<EngineSettingsOf<'codex-exec'>> = {}): CodexExecDriver {
    const command = settings.command ?? [process.execPath, PROGRAM, ...options];
    const env = { CODEX_HOME: this.workspace };
    const parsed = EngineSettings.parse({ kind: 'codex-exec', ...settings, command, env });
    const engine = {
      name: 'scripted',
      settings: parsed as EngineSettingsOf<'codex-exec'>,
      deps: { find: () => command },
    };
    return tracked(
      new CodexExecDriver(this.context, { ...partsOf(this.context, engine), endsWithinMs: ENDS_WITHIN_MS }),
    );
  }

  /** The session that the turn before has left. */
  get known() {
    const nativeSessionId = this.names.at(-1);
    if (nativeSessionId === undefined) throw new Error('no session was named');
    return { nativeSessionId, protocolVersion: CODEX_EXEC_PROTOCOL_VERSION };
  }

  /** What the agent said as its messages. */
  said(): string {
    return this.items('agent_message')
      .map(({ text }) => String(text))
      .join('');
  }

  /** The items of a type that were completed. */
  items(type: string): Record<string, unknown>[] {
    return this.frames
      .filter((frame) => frame.type === 'item.completed')
      .map((frame) => (frame['params'] as { item: Record<string, unknown> }).item)
      .filter((item) => item['type'] === type);
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
