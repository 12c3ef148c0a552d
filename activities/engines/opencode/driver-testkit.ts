import { realpathSync } from 'node:fs';
import { ClientFiles } from '../files/client-files.ts';
import { DriverStage, folder, tracked } from '../driver-testkit.ts';
import { OpencodeDriver, type OpencodeDriverParts } from './driver.ts';
import { ScriptedServer } from './scripted-server-testkit.ts';

export const CREDENTIALS = { username: 'tidemark', password: 'secret' };

/** A platform for a driver of a scripted server, which runs in this process. */
export class Stage extends DriverStage {
  readonly server = new ScriptedServer();

  driver(parts: Partial<OpencodeDriverParts> = {}): OpencodeDriver {
    const driver = new OpencodeDriver(this.context, {
      name: 'scripted',
      directory: realpathSync(this.workspace),
      roots: [this.workspace],
      files: new ClientFiles(this.workspace, [this.workspace]),
      credentials: CREDENTIALS,
      choice: () => ({}),
      modelRetries: 5,
      start: () => this.server.process(),
      ...parts,
    });
    return tracked(driver);
  }

  /** What the agent said as its messages. */
  said(): string {
    return this.deltas('text').join('');
  }

  deltas(field: string): string[] {
    return this.paramsOf('message.part.delta').flatMap((delta) =>
      delta['field'] === field ? [String(delta['delta'])] : [],
    );
  }

  paramsOf(type: string): Record<string, unknown>[] {
    return this.frames
      .filter((frame) => frame.type === type)
      .map((frame) => frame['params'] as Record<string, unknown>);
  }

  keptIn(type: string): unknown[] {
    return this.frames.filter((frame) => frame.type === type).flatMap(({ kept }) => (kept === undefined ? [] : [kept]));
  }
}

export async function stage(): Promise<Stage> {
  return new Stage(await folder());
}

/** One turn of a new session, to its end. */
export async function turn(at: Stage, script: string, parts: Partial<OpencodeDriverParts> = {}) {
  const driver = at.driver(parts);
  await driver.open(null);
  return await driver.prompt(script);
}
