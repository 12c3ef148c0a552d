import { join } from 'node:path';
import type { Config } from '../infra/config.ts';

/** Where hosts of agents keep their sessions: a folder a thread, so that what is erased is erased here, too. */
export function hostedSessionsRoot({ home }: Pick<Config, 'home'>): string {
  return join(home, 'hosted-sessions');
}
