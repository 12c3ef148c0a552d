import { expect } from 'vitest';
import { textOf, type Interrupt, type Run, type SaidEvent } from '../fixtures/rest.ts';
import type { Scenario, Stage } from './scenario.ts';
import { expectSound } from './sound-run.ts';

/** The worker that drives a turn dies, is replaced, freezes, or gives the engine up while a person thinks. */
export function workerScenarios(scenario: Scenario): void {
  scenario('worker-killed', async (stage) => {
    const { world, trial } = stage;
    const run = await world.begin(trial.prompt);
    await world.text(run);
    await world.worker.kill('SIGKILL');
    await world.stack.startWorker();
    await goneOn(stage, run);
  });

  scenario('deploy', async (stage) => {
    const { world, trial } = stage;
    const run = await world.begin(trial.prompt);
    await world.text(run);
    const old = world.worker;
    await world.stack.startWorker();
    expect(await old.end()).toBe('exit code 0');
    await goneOn(stage, run);
  });

  scenario('deploy-question', async (stage) => {
    const { world, trial } = stage;
    const run = await world.begin(trial.prompt);
    const [interrupt] = await world.asked(run);
    expect(await world.worker.end()).toBe('exit code 0');
    await world.noEngineLeft(run);
    await world.answer(interrupt as Interrupt, { decision: 'approve' });
    await world.stack.startWorker();
    const events = await goneOn(stage, run);
    expect(answersIn(events)).toEqual(['approval.requested', 'approval.resolved']);
  });

  scenario('park', async (stage) => {
    const { world, trial } = stage;
    const run = await world.begin(trial.prompt, 'parks');
    const [interrupt] = await world.asked(run);
    await world.noEngineLeft(run);
    expect((await world.asked(run)).map(({ status }) => status)).toEqual(['pending']);
    await world.answer(interrupt as Interrupt, { decision: 'approve' });
    const end = await world.over(run);
    expect(end).toMatchObject({ status: 'completed' });
    const events = await world.rest.events(run);
    expect(textOf(events)).toContain(trial.says ?? '');
    expect(answersIn(events)).toEqual(['approval.requested', 'approval.resolved']);
    await expectSound(world, end);
  });

  scenario('zombie', async (stage) => {
    const { world, trial } = stage;
    // one that asks for more turns gets them though it is frozen: each is lost on it until its heartbeat times out
    const frozen = await world.startFullWorker();
    const run = await world.begin(trial.prompt);
    await world.text(run);
    await frozen.kill('SIGSTOP');
    await world.stack.startWorker();
    const events = await goneOn(stage, run);
    await frozen.kill('SIGCONT');
    await frozen.end();
    expect(await world.rest.events(run)).toEqual(events);
    await world.noEngineLeft(run);
  });
}

/**
 * The turn was interrupted and another worker has it: an engine that can take its session up goes on in a new generation of it and says
 * that nobody knows what happened in between; of another one the run fails. Nothing is said twice.
 */
async function goneOn({ world, trial, subject }: Stage, run: Run): Promise<readonly SaidEvent[]> {
  const end = await world.over(run);
  const events = await world.rest.events(run);
  expect(events.filter(({ kind }) => kind === 'turn.started')).toHaveLength(1);
  if (!subject.resumes) {
    expect(end).toMatchObject({ status: 'failed', error: { code: 'engine_lost' } });
  } else {
    expect(end).toMatchObject({ status: 'completed', error: null });
    expect(textOf(events)).toContain(trial.says ?? '');
    expect(events.filter(({ kind }) => kind === 'context.marker')).toMatchObject([{ markerType: 'reconciling' }]);
    expect(await world.session(run)).toMatchObject({ generation: 2, durability: 'committed' });
  }
  await world.noEngineLeft(run);
  await expectSound(world, end);
  return events;
}

function answersIn(events: readonly SaidEvent[]): string[] {
  return events.flatMap(({ kind }) => (kind.startsWith('approval.') ? [kind] : []));
}
