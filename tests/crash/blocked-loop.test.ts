import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startStack, type Stack } from '../../infra/testing/stack.ts';
import { engineConfig } from '../fixtures/engine-config.ts';
import { Rest, type Run } from '../fixtures/rest.ts';

/** The heartbeat timeout is 15 s. */
const BLOCKED_MS = 20_000;
let stack: Stack;

beforeAll(async () => {
  const module = resolve('tests/fixtures/engines/blocking-adapter.ts');
  const file = await engineConfig({ blocking: { kind: 'lifecycle', module } });
  stack = await startStack({ workers: 2, env: { TIDEMARK_CONFIG: file } });
}, 60_000);
afterAll(async () => {
  await stack?.stop();
});

it('a worker whose event loop is blocked past its heartbeat in mid-tool does nothing twice, and the log has one lineage', async () => {
  const rest = new Rest(stack.url);
  const effects = join(stack.home, 'effects');
  const input = `${effects} ${String(BLOCKED_MS)}`;
  const { run_id: runId } = (await rest.send<Run>('POST', '/v1/runs', { engine: 'blocking', input })).body;
  const end = await rest.until(
    `run ${runId} complete`,
    async () => {
      const now = await rest.run(runId);
      return now.canonical_state === 'complete' ? now : null;
    },
    80_000,
  );
  await rest.until(
    'the blocked worker goes on',
    async () => (await readFile(`${effects}.awake`, 'utf8').catch(() => '')) || null,
    20_000,
  );
  // the adapter keeps no session: another attempt cannot know what the first has done
  expect(end).toMatchObject({ status: 'failed', error: { code: 'engine_lost' } });
  expect((await readFile(effects, 'utf8')).trim().split('\n')).toEqual([runId]);
  const events = await rest.events(end);
  expect(events.filter(({ kind }) => kind === 'tool.started')).toHaveLength(1);
  // by the attempt that woke, if nobody had fenced it yet, or by the one that did: one of them, never both
  expect(events.filter(({ kind }) => kind === 'tool.completed')).toHaveLength(1);
  const { body: proof } = await rest.send<{ holds: boolean }>('GET', `/v1/runs/${runId}/verify`);
  expect(proof.holds).toBe(true);
}, 100_000);
