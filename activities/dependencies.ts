import type { Client } from '@temporalio/client';
import type { Config } from '../infra/config.ts';
import type { Logger } from '../infra/log.ts';
import type { Pool } from '../infra/postgres/pool.ts';
import type { Providers } from './engines/builtin/providers/registry.ts';
import type { ExtensionHost } from './engines/builtin/extensions/host.ts';
import type { Tools } from './engines/builtin/tools/tool.ts';
import type { Engines } from './engines/driver.ts';
import type { GroupCommitter } from './group-committer.ts';
import type { RunWatch } from './run-watch.ts';

/** What the activities of a worker process share. */
export interface Dependencies {
  readonly config: Config;
  readonly pool: Pool;
  readonly log: Logger;
  readonly committer: GroupCommitter;
  readonly watch: RunWatch;
  readonly providers: Providers;
  readonly tools: Tools;
  readonly extensions: ExtensionHost;
  readonly temporal: Client;
  readonly engines: Engines;
  /** Names the place where engines keep their sessions: this worker's home. */
  readonly runtimeId: string;
}
