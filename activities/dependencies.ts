import type { Client } from '@temporalio/client';
import type { Config } from '../infra/config.ts';
import type { Logger } from '../infra/log.ts';
import type { ConfiguredModels } from '../infra/model-settings.ts';
import type { Pool } from '../infra/postgres/pool.ts';
import type { Providers } from './engines/builtin/providers/registry.ts';
import type { ExtensionHost } from './engines/builtin/extensions/host.ts';
import type { McpTools } from './engines/builtin/mcp/mcp-tools.ts';
import type { SessionMirror } from './engines/builtin/sessions/session-mirror.ts';
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
  /** What is said of models: limits and prices. */
  readonly models: ConfiguredModels;
  readonly tools: Tools;
  readonly extensions: ExtensionHost;
  readonly mcp: McpTools;
  /** Null where conversations are kept in the database alone. */
  readonly sessionMirror: SessionMirror | null;
  readonly temporal: Client;
  readonly engines: Engines;
  /** Names the place where engines keep their sessions: this worker's home. */
  readonly runtimeId: string;
}
