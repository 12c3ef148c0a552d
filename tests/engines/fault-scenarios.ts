import { expect } from 'vitest';
import { residentKib } from '../../activities/engines/process/process-table.ts';
import { textOf, type Run } from '../fixtures/rest.ts';
import type { Patience } from './engine-world.ts';
import type { Scenario, Stage } from './scenario.ts';
import { expectSound } from './sound-run.ts';

/** A flood is so many pieces: `0 `, `1 `, … */
export const FLOOD_PIECES = 20_000;
/** What a worker may grow by while it stores a flood; all of it would be a multiple, were it held. */
const GROWTH_KIB = 300 * 1_024;

/** An engine that breaks, hangs, floods, or does not speak its protocol. */
export function faultScenarios(scenario: Scenario): void {
  scenario('crash', async (stage) => {
    await failed(stage, 'engine_lost');
  });

  scenario('malformed', async (stage) => {
    await failed(stage, 'engine_protocol_error');
  });

  scenario('silent', async (stage) => {
    await failed(stage, 'engine_stalled', 'stalls');
  });

  scenario('flood', async ({ world, trial }) => {
    const pid = world.stack.workers.at(-1)?.pid ?? 0;
    const before = await residentKib(pid);
    const run = await world.begin(trial.prompt);
    const end = await world.over(run);
    expect(end.status).toBe('completed');
    const text = textOf(await world.rest.events(run));
    expect(text).toBe(Array.from({ length: FLOOD_PIECES }, (_, n) => `${String(n)} `).join(''));
    await expectSound(world, end);
    expect((await residentKib(pid)) - before).toBeLessThan(GROWTH_KIB);
  });
}

async function failed({ world, trial }: Stage, code: string, patience?: Patience): Promise<Run> {
  const run = await world.begin(trial.prompt, patience);
  const end = await world.over(run);
  expect(end).toMatchObject({ status: 'failed', error: { code: trial.code ?? code } });
  await world.noEngineLeft(run);
  await expectSound(world, end);
  return end;
}
