import { writeSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { inheritedEnv } from '../../infra/config.ts';
import { startOwnServers, type OwnServers } from '../../infra/testing/own-servers.ts';
import { startStack, type Stack } from '../../infra/testing/stack.ts';
import { acpAgent, engineConfig } from '../fixtures/engine-config.ts';
import { startModelServer, type ModelServer } from '../fixtures/model-server.ts';
import { Effects } from './harness/effects.ts';
import { planStorm } from './harness/plan.ts';
import { processesOf } from './harness/processes.ts';
import { rage } from './harness/storm.ts';

const env = inheritedEnv({});
const nightly = env['TIDEMARK_CRASH_STORM'] === 'nightly';
const size = nightly ? { stormMs: 300_000, threads: 40, runs: 400 } : { stormMs: 30_000, threads: 16, runs: 72 };
/** Of the short form a bound on CI’s time as well. */
const settleWithinMs = nightly ? 240_000 : 120_000;
const seed = Number(env['TIDEMARK_CRASH_SEED'] ?? Math.floor(Math.random() * 2 ** 31));

let model: ModelServer;
let servers: OwnServers;
let stack: Stack;
const effects = new Effects();

beforeAll(async () => {
  [model, servers] = await Promise.all([startModelServer(), startOwnServers(), effects.start()]);
  stack = await startStack({
    servers,
    gateways: 0,
    workers: 0,
    env: {
      OPENAI_API_KEY: 'sk-canary-key',
      OPENAI_BASE_URL: model.baseUrl,
      OPENAI_MODEL: 'scripted',
      TIDEMARK_FETCH_ALLOW: effects.host,
      TIDEMARK_CONFIG: await engineConfig({ agent: { kind: 'acp', command: acpAgent() } }),
    },
  });
}, 120_000);
afterAll(async () => {
  await stack?.stop();
  await servers?.stop();
  await effects.stop();
  await model?.stop();
}, 120_000);

it(
  'two workers and two gateways in a storm of faults lose nothing, repeat nothing and end every run once',
  async () => {
    say(
      `storm: seed ${String(seed)} (TIDEMARK_CRASH_SEED replays it), ${String(size.runs)} runs in ${String(size.threads)} threads`,
    );
    const ledger = await rage({ plan: planStorm(seed, size), stack, servers, effects, settleWithinMs });
    const left = await processesOf(stack.home);
    for (const line of ledger.lines) say(line);
    say(`storm ${String(seed)}: ${ledger.counted()}`);
    say(
      `longest recovery: of a run ${(ledger.longestSilenceMs / 1_000).toFixed(1)} s, ` +
        `of a client's stream ${(ledger.longestReconnectMs / 1_000).toFixed(1)} s`,
    );
    expect(ledger.faults, `seed ${String(seed)}`).toEqual([]);
    expect(left).toEqual([]);
  },
  size.stormMs + settleWithinMs + 180_000,
);

/** Shown even when the test passes. */
function say(line: string): void {
  writeSync(2, `${line}\n`);
}
