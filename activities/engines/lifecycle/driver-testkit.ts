import { pino } from 'pino';
import { onTestFinished } from 'vitest';
import type { NativeFrame } from '../../../contract/frames.ts';
import type { LifecycleBody } from '../../../contract/lifecycle.ts';
import type { EngineAnswer, EngineQuestion, TurnEnd } from '../driver.ts';
import { LifecycleDriver } from './driver.ts';
import type { AdapterPeer } from './peer.ts';

export const RUN = { run_id: 'run_1', conversation_id: 'thr_1' };

export interface Turn {
  readonly driver: LifecycleDriver;
  readonly frames: NativeFrame[];
  readonly asked: EngineQuestion[];
  readonly logged: string[];
  readonly cancel: AbortController;
  run(input: string): Promise<TurnEnd>;
}

/** A turn of an adapter, with what the platform would do for it written down. */
export function turnOf(
  peer: AdapterPeer,
  answer: (question: EngineQuestion) => EngineAnswer = () => ({ status: 'approved', always: false }),
): Turn {
  const frames: NativeFrame[] = [];
  const asked: EngineQuestion[] = [];
  const logged: string[] = [];
  const cancel = new AbortController();
  const context = {
    runId: RUN.run_id,
    threadId: RUN.conversation_id,
    workspace: '.',
    model: null,
    log: pino({ level: 'trace' }, { write: (line) => void logged.push(line) }),
    signal: cancel.signal,
    emit: (frame: NativeFrame) => {
      frames.push(frame);
      return Promise.resolve();
    },
    ask: (question: EngineQuestion) => {
      asked.push(question);
      return Promise.resolve(answer(question));
    },
    keep: () => Promise.reject(new Error('nothing is kept')),
    named: () => Promise.reject(new Error('the session has its name')),
    expect: () => undefined,
  };
  const driver = new LifecycleDriver(context, 'calculator', () => peer);
  onTestFinished(() => driver.close());
  return {
    driver,
    frames,
    asked,
    logged,
    cancel,
    async run(input) {
      await driver.open(null);
      return await driver.prompt(input);
    },
  };
}

/** An adapter that says the same to every turn. */
export function scripted(events: readonly unknown[], { capabilities = {} }: { capabilities?: object } = {}) {
  const seen = { isReturned: false, cancelled: [] as string[] };
  async function* say(): AsyncGenerator<unknown> {
    try {
      yield* events;
    } finally {
      seen.isReturned = true;
    }
  }
  const peer: AdapterPeer = {
    capabilities: () => Promise.resolve(capabilities),
    stream: say,
    resume: say,
    cancel: ({ run_id }) => {
      seen.cancelled.push(run_id);
      return Promise.resolve();
    },
    close: () => Promise.resolve(),
  };
  return { peer, seen };
}

export function envelope(body: LifecycleBody, sequence: number, namespace: readonly string[] = []) {
  return { version: 1, ...RUN, sequence, timestamp: '2026-08-17T00:00:00Z', namespace, ...body };
}
