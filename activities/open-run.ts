import { join } from 'node:path';
import { PLATFORM } from '../contract/frames.ts';
import { openConversation, openSession } from '../infra/postgres/session.ts';
import { readRun } from '../infra/postgres/run.ts';
import { agentOf } from './agent-of.ts';
import type { Dependencies } from './dependencies.ts';
import { LoopEvents } from './engines/builtin/extensions/loop-events.ts';

export interface OpenedRun {
  readonly maxSteps: number;
  readonly drive: 'stepped' | 'opaque';
}

/** Model calls and tool calls of one run together, unless its settings say less (spec 002: the loop's safety cap). */
const DEFAULT_MAX_STEPS = 1_000;

/** Opens the engine's session for a run: its capabilities on the stream, and the input as its first message. */
export function createOpenRun({ pool, engines, extensions, config }: Dependencies) {
  return async function openRun(runId: string): Promise<OpenedRun> {
    const run = await readRun(pool, runId);
    const engine = engines.of(run.engine);
    const maxSteps = run.settings.max_steps ?? DEFAULT_MAX_STEPS;
    const message = {
      role: 'user',
      content: JSON.parse(run.input) as string,
      timestamp: run.created_at.getTime(),
    } as const;
    // an engine of its own says what its session can do when it has one
    if (engine.drive === 'opaque') {
      await openConversation(pool, runId, message);
      return { maxSteps, drive: 'opaque' };
    }
    const frame = { type: 'session.opened', capabilities: engine.capabilities, source: engine.provider };
    await openSession(pool, {
      runId,
      binding: {
        threadId: run.thread_id,
        engine: run.engine,
        provider: engine.provider,
        nativeSessionId: run.thread_id,
        runtime: { kind: 'managed', id: 'tidemark' },
        protocolVersion: engine.protocol,
        capabilities: engine.capabilities,
        runId,
      },
      append: {
        runId,
        provider: PLATFORM,
        writer: null,
        translate: engine.translate,
        frames: [{ at: Date.now(), frame }],
      },
      message,
    });
    const events = new LoopEvents(extensions, agentOf(run));
    const [provider = ''] = run.model.split('/', 1);
    events.started({ cwd: join(config.workspaceRoot, run.thread_id), provider, line: message.content });
    await events.appended(message, async () => await Promise.resolve(1));
    return { maxSteps, drive: 'stepped' };
  };
}
