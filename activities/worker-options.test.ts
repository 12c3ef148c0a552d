import { describe, expect, it } from 'vitest';
import { TASK_QUEUE } from '../contract/messages.ts';
import { createLogger } from '../infra/log.ts';
import { workerSettings } from './worker-options.ts';

const silent = createLogger({ logLevel: 'silent' }, 'test');

const config = { engineSlots: 7, controlSlots: 9, handoverSeconds: 20, buildId: undefined };

describe('the worker settings that were found to matter (design §3)', () => {
  it('are in force on both queues', () => {
    for (const settings of Object.values(workerSettings(config, silent))) {
      expect(settings).toMatchObject({
        maxHeartbeatThrottleInterval: '2s',
        stickyQueueScheduleToStartTimeout: '2s',
        shutdownGraceTime: 20_000,
        shutdownForceTime: 40_000,
      });
      expect(settings).not.toHaveProperty('workerDeploymentOptions');
    }
  });

  it('keep engine work and bookkeeping on queues of their own, with the slots that were configured', () => {
    const { engine, control } = workerSettings(config, silent);
    expect(engine).toMatchObject({ taskQueue: TASK_QUEUE.engine, maxConcurrentActivityTaskExecutions: 7 });
    expect(control).toMatchObject({ taskQueue: TASK_QUEUE.control, maxConcurrentActivityTaskExecutions: 9 });
  });

  it('pin runs to a version when the deploy names one', () => {
    const { control } = workerSettings({ ...config, buildId: 'v7' }, silent);
    expect(control.workerDeploymentOptions).toMatchObject({
      useWorkerVersioning: true,
      version: { deploymentName: 'tidemark', buildId: 'v7' },
      defaultVersioningBehavior: 'PINNED',
    });
  });
});
