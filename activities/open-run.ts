import { PLATFORM } from '../contract/frames.ts';
import { openSession } from '../infra/postgres/session.ts';
import { readRun } from '../infra/postgres/run.ts';
import type { Dependencies } from './dependencies.ts';
import { engineOf } from './engines/registry.ts';

export interface OpenedRun {
  readonly maxSteps: number;
}

/** Model calls and tool calls of one run together, unless its settings say less (spec 002: the loop's safety cap). */
const DEFAULT_MAX_STEPS = 1_000;

/** Opens the engine's session for a run: its capabilities on the stream, and the input as its first message. */
export function createOpenRun({ pool }: Dependencies) {
  return async function openRun(runId: string): Promise<OpenedRun> {
    const run = await readRun(pool, runId);
    const engine = engineOf(run.engine);
    const frame = { type: 'session.opened', capabilities: engine.capabilities, source: engine.provider };
    await openSession(pool, {
      runId,
      append: {
        runId,
        provider: PLATFORM,
        writer: null,
        translate: engine.translate,
        frames: [{ at: Date.now(), frame }],
      },
      message: { role: 'user', content: JSON.parse(run.input) as string, timestamp: run.created_at.getTime() },
    });
    return { maxSteps: run.settings.max_steps ?? DEFAULT_MAX_STEPS };
  };
}
