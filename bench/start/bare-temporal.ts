import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { bundleWorkflowCode, NativeConnection, Runtime, Worker, type LogLevel, type Logger } from '@temporalio/worker';

const QUEUE = { workflow: 'bench-bare', activity: 'bench-bare-activities' } as const;

/** From the call that starts a workflow. */
export interface BareStart {
  /** The first line of its first activity. */
  readonly activityMs: number;
  /** The model's first byte in that activity. */
  readonly modelMs: number;
}

export type BareActivities = { firstActivity(id: string): Promise<void> };

/**
 * What Temporal itself takes from a start to an activity, with a client and workers in this process.
 *
 * `split` runs the activity on a queue that another worker serves: no eager dispatch, as where engines have a queue of their
 * own (design §3).
 */
export class BareTemporal {
  readonly #client: Client;
  readonly #started = new Map<string, (start: { activityAt: number; modelAt: number }) => void>();
  readonly #stop: () => Promise<void>;
  #count = 0;

  private constructor(client: Client, stop: () => Promise<void>) {
    this.#client = client;
    this.#stop = stop;
  }

  static async start(address: string, modelFirstByteMs: number): Promise<BareTemporal> {
    Runtime.install({ logger: quiet, shutdownSignals: [] });
    const workflowsPath = fileURLToPath(new URL('bare-workflow.ts', import.meta.url));
    const workflowBundle = await bundleWorkflowCode({ workflowsPath, logger: quiet });
    const connection = await Connection.connect({ address });
    const native = await NativeConnection.connect({ address });
    const activities: BareActivities = {
      async firstActivity(id) {
        const activityAt = performance.now();
        await sleep(modelFirstByteMs);
        bench.#started.get(id)?.({ activityAt, modelAt: performance.now() });
      },
    };
    const workers = [
      await Worker.create({ connection: native, taskQueue: QUEUE.workflow, workflowBundle, activities }),
      await Worker.create({ connection: native, taskQueue: QUEUE.activity, activities }),
    ];
    const running = Promise.all(workers.map((worker) => worker.run()));
    const bench = new BareTemporal(new Client({ connection }), async () => {
      for (const worker of workers) worker.shutdown();
      await running;
      await connection.close();
      await native.close();
    });
    return bench;
  }

  async measure({ split = false } = {}): Promise<BareStart> {
    const workflowId = `bare-${String(process.pid)}-${String(++this.#count)}`;
    const started = new Promise<{ activityAt: number; modelAt: number }>((resolve) => {
      this.#started.set(workflowId, resolve);
    });
    const startedAt = performance.now();
    const handle = await this.#client.workflow.start('bare', {
      workflowId,
      taskQueue: QUEUE.workflow,
      args: [workflowId, split ? QUEUE.activity : null],
    });
    const { activityAt, modelAt } = await started;
    this.#started.delete(workflowId);
    await handle.result();
    return { activityMs: activityAt - startedAt, modelMs: modelAt - startedAt };
  }

  async stop(): Promise<void> {
    await this.#stop();
  }
}

const ignore = (): void => {};
const quiet: Logger = {
  log: (_level: LogLevel) => {},
  trace: ignore,
  debug: ignore,
  info: ignore,
  warn: ignore,
  error: ignore,
};
