import { inheritedEnv, type Config } from '../config.ts';
import { childOutput } from './child-output.ts';
import { logFile } from './log-files.ts';
import { startNodeChild } from './node-child.ts';
import { freePort } from './ports.ts';
import type { Fleet } from './fleet.ts';
import type { TemporalPlace } from './temporal.ts';

const READY_WITHIN_MS = 60_000;

export type Places = {
  readonly databaseUrl: string;
  readonly temporal: TemporalPlace;
  readonly workflowBundle: string | undefined;
};

/** Starts a worker and a gateway on the given servers, and gives the gateway's URL. */
export async function startServices(config: Config, places: Places, fleet: Fleet): Promise<string> {
  const port = config.port === 0 ? await freePort(config.host) : config.port;
  const env = inheritedEnv({
    TIDEMARK_HOME: config.home,
    TIDEMARK_PORT: String(port),
    DATABASE_URL: places.databaseUrl,
    TEMPORAL_ADDRESS: places.temporal.address,
    TEMPORAL_NAMESPACE: config.temporal.namespace,
    TIDEMARK_TEMPORAL_UI_URL: config.temporalUiUrl ?? places.temporal.uiUrl,
    TIDEMARK_WORKFLOW_BUNDLE: config.workflowBundlePath ?? places.workflowBundle,
  });
  let url = `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${port}`;
  const start = (name: 'gateway' | 'worker', entry: string) => {
    const onLine = childOutput(name, logFile(config.home, name), fleet.say);
    return fleet.keep(name, async (signal) => {
      const child = await startNodeChild(entry, { env, readyWithinMs: READY_WITHIN_MS, onLine }, signal);
      if (name === 'gateway') url = child.url ?? url;
      return child.process;
    });
  };
  await fleet.together([start('worker', 'activities/worker.ts'), start('gateway', 'api/server.ts')]);
  return url;
}
