import type { WorkerOptions } from '@temporalio/worker';
import { TASK_QUEUE } from '../contract/messages.ts';
import type { Config } from '../infra/config.ts';
import type { Logger } from '../infra/log.ts';
import { typedFailures } from './failures.ts';
import { smallResults } from './payload-limit.ts';

type Settings = Pick<
  WorkerOptions,
  | 'taskQueue'
  | 'maxHeartbeatThrottleInterval'
  | 'stickyQueueScheduleToStartTimeout'
  | 'shutdownGraceTime'
  | 'shutdownForceTime'
  | 'maxConcurrentActivityTaskExecutions'
  | 'maxConcurrentWorkflowTaskExecutions'
  | 'interceptors'
  | 'workerDeploymentOptions'
>;

/** What a step that is handed over may take to put its engine away. */
const HANDED_OVER_WITHIN_MS = 20_000;

/**
 * The Temporal settings that were found to matter (design §3), pinned by a test: a cancel reaches an activity in about 2 s
 * instead of 18 s, a signal after a killed worker in about 2 s instead of 10 s, a deploy hands its runs over in 20 s
 * where nothing else is configured.
 */
export function workerSettings(
  config: Pick<Config, 'engineSlots' | 'controlSlots' | 'handoverSeconds' | 'buildId'>,
  log: Logger,
): {
  engine: Settings;
  control: Settings;
} {
  const common: Omit<Settings, 'taskQueue'> = {
    maxHeartbeatThrottleInterval: '2s',
    stickyQueueScheduleToStartTimeout: '2s',
    shutdownGraceTime: config.handoverSeconds * 1_000,
    shutdownForceTime: config.handoverSeconds * 1_000 + HANDED_OVER_WITHIN_MS,
    interceptors: {
      activity: [({ info }) => ({ inbound: typedFailures(log, info) }), () => ({ inbound: smallResults })],
    },
    ...(config.buildId === undefined ? {} : { workerDeploymentOptions: deployment(config.buildId) }),
  };
  return {
    engine: { ...common, taskQueue: TASK_QUEUE.engine, maxConcurrentActivityTaskExecutions: config.engineSlots },
    control: {
      ...common,
      taskQueue: TASK_QUEUE.control,
      maxConcurrentActivityTaskExecutions: config.controlSlots,
      maxConcurrentWorkflowTaskExecutions: 100,
    },
  };
}

/** With a build id, workers are versioned: a run stays on the version it began with, and moves on when it parks. */
function deployment(buildId: string): NonNullable<WorkerOptions['workerDeploymentOptions']> {
  return {
    useWorkerVersioning: true,
    version: { deploymentName: 'tidemark', buildId },
    defaultVersioningBehavior: 'PINNED',
  };
}
