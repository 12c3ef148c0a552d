import type { Client } from '@temporalio/client';
import type { Config } from '../infra/config.ts';
import type { Logger } from '../infra/log.ts';
import type { Pool } from '../infra/postgres/pool.ts';
import type { ConfiguredEngines } from '../infra/tidemark-config.ts';
import type { Hub } from './hub.ts';

/** What the routes of a gateway process share. */
export interface Gateway {
  readonly config: Config;
  readonly engines: ConfiguredEngines;
  readonly pool: Pool;
  readonly log: Logger;
  readonly temporal: Client;
  readonly hub: Hub;
  /** True from the first signal to stop: new work is refused. */
  draining: boolean;
}
