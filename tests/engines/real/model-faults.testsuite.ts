import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EngineWorld } from '../engine-world.ts';
import { expectSound } from '../sound-run.ts';
import type { EngineSubject } from '../subject.ts';
import type { Fault } from './model-fault.ts';
import type { RealEngine } from './real-engine.ts';
import { promptOf } from './scripted-model.ts';

/** An engine whose model's server fails ends its turn truthfully: never as completed, and never not at all. */
export function describeModelFaults(subject: EngineSubject, faults: RealEngine['faults']): void {
  describe(`the engine ${subject.name} with a model that fails`, () => {
    let world: EngineWorld;
    beforeAll(async () => {
      world = await EngineWorld.start(subject);
    });
    afterAll(async () => {
      await world?.stop();
    });

    for (const [fault, expected] of Object.entries(faults)) {
      const [code, cannot] = typeof expected === 'object' ? [null, expected.cannot] : [expected, null];
      it(`${fault}: ${cannot ?? code}`, async ({ skip }) => {
        skip(cannot !== null, cannot ?? '');
        const run = await world.begin(promptOf(fault as Fault));
        const end = await world.over(run);
        expect(end).toMatchObject({ status: 'failed', stop_reason: 'error', error: { code } });
        expect(end.error?.message).not.toContain('dummy');
        await world.noEngineLeft(run);
        await expectSound(world, end);
      });
    }
  });
}
