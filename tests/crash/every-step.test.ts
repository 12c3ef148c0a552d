import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { startStack, type Stack } from '../../infra/testing/stack.ts';
import { extensionConfig } from '../fixtures/extension-config.ts';
import { startHeldServer, type HeldServer } from '../fixtures/held-server.ts';
import { Rest, textOf, type Run } from '../fixtures/rest.ts';

/** Model calls and tool calls of a run in turn, and an answer after them. */
const STEPS = 30;
const TOOLS = STEPS / 2;
const TIMEOUT = 240_000;
let server: HeldServer;
let stack: Stack;
let rest: Rest;

beforeAll(async () => {
  server = await startHeldServer(TOOLS);
  const tick = join(await mkdtemp(join(inject('scratch'), 'tick-')), 'tick.mjs');
  await writeFile(tick, TICK);
  const config = await extensionConfig([{ module: tick, options: { url: server.url } }]);
  const env = { TIDEMARK_CONFIG: config, OPENAI_API_KEY: 'sk-test-key', OPENAI_BASE_URL: `${server.url}/v1` };
  stack = await startStack({ env: { ...env, OPENAI_MODEL: 'scripted' } });
  rest = new Rest(stack.url);
}, TIMEOUT);
afterAll(async () => {
  await stack?.stop();
  await server?.stop();
}, TIMEOUT);

it(
  'a worker that dies in each step of a run of 30 steps: one model call more at most, and no tool twice',
  async () => {
    const runs: Run[] = [];
    for (let step = 0; step < STEPS; step++) runs.push(await rest.startRun(`run ${String(step)}`));
    await rest.until(
      'each run is in another step',
      async () => await Promise.resolve(server.held.size === STEPS || null),
      TIMEOUT,
    );

    await stack.workers[0]?.kill('SIGKILL');
    server.release();
    await stack.startWorker();
    const texts: string[] = [];
    for (const run of runs) {
      const settled = await rest.settled(run.run_id, TIMEOUT);
      expect(settled).toMatchObject({ status: 'completed', error: null });
      texts.push(textOf(await rest.events(run)));
    }

    expect(texts).toEqual(runs.map(() => 'All is done.'));
    for (let run = 0; run < STEPS; run++) {
      const steps = server.seen.filter((call) => call.run === run).map(({ step }) => step);
      const expected = Array.from({ length: STEPS + 1 }, (_, step) => step);
      // a model call that died is made again; a tool that died is not
      const again = run % 2 === 0 ? [run] : [];
      expect([run, steps.toSorted((a, b) => a - b)]).toEqual([run, [...expected, ...again].toSorted((a, b) => a - b)]);
    }
  },
  TIMEOUT,
);

/** A tool with an effect outside, which is counted there. */
const TICK = `
export default (api) => {
  api.register('tool', {
    name: 'tick',
    description: 'Counts.',
    parameters: { type: 'object', properties: { run: { type: 'integer' }, n: { type: 'integer' } }, required: ['run', 'n'] },
    async execute({ run, n }, { signal }) {
      const response = await fetch(api.options.url + '/tick?run=' + run + '&n=' + n, { method: 'POST', signal });
      return { content: [{ type: 'text', text: await response.text() }], isError: false };
    },
  });
};
`;
