import { expect } from 'vitest';
import { textOf, type Interrupt, type Run, type SaidEvent } from '../fixtures/rest.ts';
import type { EngineWorld } from './engine-world.ts';
import type { Scenario, Stage } from './scenario.ts';
import { expectSound } from './sound-run.ts';

/** What an engine says and asks in a turn that nothing disturbs. */
export function turnScenarios(scenario: Scenario): void {
  scenario('text', async (stage) => {
    const { run, events } = await played(stage);
    expect(events[0]).toMatchObject({ kind: 'turn.started', input: stage.trial.prompt });
    expect(textOf(events)).not.toBe('');
    expect(events.filter(({ kind }) => kind === 'session.started')).toHaveLength(1);
    expect(await stage.world.session(run)).toMatchObject({
      generation: 1,
      durability: 'committed',
      run_id: run.run_id,
    });
  });

  scenario('reasoning', async (stage) => {
    const { events } = await played(stage);
    expect(only(events, 'reasoning.delta').length).toBeGreaterThan(0);
    expect(only(events, 'reasoning.completed').length).toBeGreaterThan(0);
  });

  scenario('tool', async (stage) => {
    const { events } = await played(stage);
    const [started] = only(events, 'tool.started');
    expect(only(events, 'tool.completed')).toMatchObject([{ toolCallId: started?.['toolCallId'], status: 'ok' }]);
  });

  scenario('parallel', async (stage) => {
    const { events } = await played(stage);
    // one that is quick may have its end before the other begins
    expect(new Set(only(events, 'tool.started').map(({ toolCallId }) => toolCallId)).size).toBe(2);
    expect(only(events, 'tool.completed').map(({ status }) => status)).toEqual(['ok', 'ok']);
  });

  for (const decision of ['approve', 'always'] as const) {
    scenario(decision, async (stage) => {
      const { events } = await decided(stage, { decision });
      expect(only(events, 'approval.resolved')).toMatchObject([{ decision }]);
      expect(only(events, 'tool.completed').map(({ status }) => status)).toContain('ok');
    });
  }

  scenario('edit', async (stage) => {
    const { events } = await decided(stage, { decision: 'edit', edited_args: stage.trial.editedArgs });
    expect(only(events, 'approval.resolved')).toMatchObject([{ decision: 'edit' }]);
  });

  scenario('reject', async (stage) => {
    const { events } = await decided(stage, { decision: 'reject', message: 'not today' });
    expect(only(events, 'approval.resolved')).toMatchObject([{ decision: 'reject', message: 'not today' }]);
    expect(only(events, 'tool.completed').map(({ status }) => status)).not.toContain('ok');
  });

  scenario('signal', async (stage) => {
    const { world, trial } = stage;
    const run = await world.begin(trial.prompt);
    const [interrupt] = await world.asked(run);
    await world.signal(run, { interrupt_id: interrupt?.interrupt_id, decision: 'approve' });
    const { events } = await finished(stage, run);
    expect(only(events, 'approval.resolved')).toMatchObject([{ decision: 'approve' }]);
  });

  scenario('question', async (stage) => {
    const { events } = await decided(stage, stage.trial.answer ?? {});
    expect(only(events, 'question.requested')).toHaveLength(1);
    expect(only(events, 'question.resolved')).toMatchObject([{ status: 'answered' }]);
  });

  scenario('plan', async (stage) => {
    const { events } = await played(stage);
    const entries = only(events, 'plan.updated').at(-1)?.['entries'] as { text: string }[];
    expect(entries.every(({ text }) => text !== '')).toBe(true);
    expect(entries.length).toBeGreaterThan(0);
  });

  scenario('file', async (stage) => {
    const { events } = await played(stage);
    const [changed] = only(events, 'file.changed');
    const diffOf = changed?.['diff'] as { artifactId: string } | undefined;
    const diff = await fetch(`${stage.world.stack.url}/v1/artifacts/${diffOf?.artifactId ?? 'none'}`);
    expect(await diff.text()).toMatch(/^@@ /m);
    expect(String(changed?.['path'])).not.toMatch(/^\//);
  });

  scenario('child', async (stage) => {
    const { events } = await played(stage);
    const [started] = only(events, 'child.started');
    expect(only(events, 'child.completed')).toMatchObject([{ childId: started?.['childId'], status: 'ok' }]);
  });

  scenario('usage', async (stage) => {
    const { events } = await played(stage);
    expect(only(events, 'usage.updated').at(-1)).toMatchObject({ inputTokens: 120, outputTokens: 30 });
  });

  scenario('commands', async (stage) => {
    const { events } = await played(stage);
    expect(only(events, 'commands.updated').length).toBeGreaterThan(0);
  });

  scenario('remembers', async (stage) => {
    const { world, trial, subject } = stage;
    const { run: first } = await played(stage, '');
    const native = (await world.session(first))['native_session_id'];
    const second = await world.begin(trial.next ?? trial.prompt, 'usual', first.thread_id);
    await finished(stage, second);
    expect(await world.session(second)).toMatchObject({ generation: 2, revision: 2, run_id: second.run_id });
    if (subject.resumes) expect(await world.session(second)).toMatchObject({ native_session_id: native });
  });
}

async function begun({ name, world, trial }: Stage): Promise<Run> {
  return await world.begin(trial.prompt, trial.settings === undefined ? 'usual' : name);
}

interface Turn {
  readonly run: Run;
  readonly events: readonly SaidEvent[];
}

/** The turns that were played to their end: to start an engine costs more than all that is asked about its turn. */
const playedIn = new WeakMap<EngineWorld, Map<string, Promise<Turn>>>();

/** A turn from its prompt to its completed end; the same for all that ask about the same prompt. */
async function played(stage: Stage, says = stage.trial.says ?? ''): Promise<Turn> {
  const { name, world, trial } = stage;
  const turns = playedIn.get(world) ?? new Map<string, Promise<Turn>>();
  playedIn.set(world, turns);
  const key = trial.settings === undefined ? trial.prompt : `${name}: ${trial.prompt}`;
  const turn = turns.get(key) ?? begun(stage).then(async (run) => await finished(stage, run, ''));
  turns.set(key, turn);
  const { run, events } = await turn;
  expect(textOf(events)).toContain(says);
  return { run, events };
}

/** A turn that asks once, and is answered. */
async function decided(stage: Stage, decision: object): Promise<Turn> {
  const { world } = stage;
  const run = await begun(stage);
  const [interrupt] = await world.asked(run);
  await world.answer(interrupt as Interrupt, decision);
  return await finished(stage, run);
}

async function finished({ world, trial }: Stage, run: Run, says = trial.says ?? ''): Promise<Turn> {
  const end = await world.over(run);
  expect(end).toMatchObject({ status: 'completed', error: null, pending_interrupts: [] });
  await expectSound(world, end);
  const events = await world.rest.events(run);
  expect(textOf(events)).toContain(says);
  return { run: end, events };
}

function only(events: readonly SaidEvent[], kind: string): readonly SaidEvent[] {
  return events.filter((event) => event.kind === kind);
}
