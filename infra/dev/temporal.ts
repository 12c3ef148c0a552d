import { join } from 'node:path';
import type { Config } from '../config.ts';
import { logFile } from './log-files.ts';
import { choosePort } from './ports.ts';
import type { Fleet } from './fleet.ts';
import { StartError } from './start-error.ts';
import { findTemporal } from './temporal-binary.ts';
import { assertNamespace, startTemporal } from './temporal-dev-server.ts';

export type TemporalPlace = { readonly address: string; readonly uiUrl: string | undefined };

/** The Temporal that TEMPORAL_ADDRESS (or its TOML profile) names or, without one, a dev server of our own under the home. */
export async function provideTemporal(config: Config, fleet: Fleet): Promise<TemporalPlace> {
  const { address } = config.temporal.connectionOptions;
  return address === undefined ? startOwn(config, fleet) : checkGiven(address, config);
}

async function startOwn(config: Config, fleet: Fleet): Promise<TemporalPlace> {
  const { namespace } = config.temporal;
  const binary = await findTemporal(fleet.say, fleet.signal);
  const port = await choosePort(config.dev.temporalPort);
  const uiPort = await choosePort(config.dev.temporalUiPort);
  const options = {
    binary,
    port,
    uiPort,
    databaseFile: join(config.home, 'temporal.db'),
    namespaces: namespace === 'default' ? [] : [namespace],
    logFile: logFile(config.home, 'temporal'),
  };
  await fleet.keep('temporal', async (signal) => (await startTemporal(options, signal)).process);
  return { address: `127.0.0.1:${port}`, uiUrl: `http://127.0.0.1:${uiPort}` };
}

async function checkGiven(address: string, config: Config): Promise<TemporalPlace> {
  try {
    await assertNamespace(config.temporal.connectionOptions, config.temporal.namespace, 10_000);
    return { address, uiUrl: config.temporalUiUrl };
  } catch (error) {
    throw new StartError(
      `TEMPORAL_ADDRESS: no answer from ${address} for the namespace ${config.temporal.namespace} ` +
        `(${(error as Error).message}). Start that server or correct the TEMPORAL_ variables, or unset them for a dev server.`,
      { cause: error },
    );
  }
}
