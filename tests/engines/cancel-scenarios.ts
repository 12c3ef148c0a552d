import { expect } from 'vitest';
import type { Run, SaidEvent } from '../fixtures/rest.ts';
import type { Scenario, Stage } from './scenario.ts';
import { expectSound } from './sound-run.ts';

/** A person who stops a run, at every moment of a turn. */
export function cancelScenarios(scenario: Scenario): void {
  scenario('cancel-early', async (stage) => {
    const run = await stage.world.begin(stage.trial.prompt);
    await cancelled(stage, run);
  });

  scenario('cancel-text', async (stage) => {
    const run = await stage.world.begin(stage.trial.prompt);
    await stage.world.text(run);
    const events = await cancelled(stage, run);
    expect(countOf(events, 'message.completed')).toBe(1);
  });

  scenario('cancel-tool', async (stage) => {
    const run = await stage.world.begin(stage.trial.prompt);
    await stage.world.said(run, (events) => countOf(events, 'tool.started') > 0);
    const events = await cancelled(stage, run);
    expect(countOf(events, 'tool.completed')).toBe(countOf(events, 'tool.started'));
    expect(events.filter(({ kind, status }) => kind === 'tool.completed' && status === 'ok')).toEqual([]);
  });

  scenario('cancel-question', async (stage) => {
    const run = await stage.world.begin(stage.trial.prompt);
    const [interrupt] = await stage.world.asked(run);
    const events = await cancelled(stage, run);
    expect(countOf(events, 'approval.resolved') + countOf(events, 'question.resolved')).toBe(1);
    const late = await stage.world.rest.resolve(interrupt?.interrupt_id ?? '', { decision: 'approve' });
    expect(late.status).toBe(409);
  });
}

async function cancelled({ world }: Stage, run: Run): Promise<readonly SaidEvent[]> {
  await world.cancel(run);
  const end = await world.over(run);
  expect(end).toMatchObject({ status: 'failed', stop_reason: 'cancelled', pending_interrupts: [] });
  await world.noEngineLeft(run);
  await expectSound(world, end);
  return await world.rest.events(run);
}

function countOf(events: readonly SaidEvent[], wanted: string): number {
  return events.filter(({ kind }) => kind === wanted).length;
}
