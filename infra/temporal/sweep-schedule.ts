import { ScheduleAlreadyRunning, type Client } from '@temporalio/client';
import { SWEEP_SCHEDULE, TASK_QUEUE, WORKFLOW } from '../../contract/messages.ts';

/** Sees to it that the sweep is scheduled: one in a namespace, whoever starts first; what an operator changed stays. */
export async function ensureSweepSchedule(temporal: Client): Promise<void> {
  try {
    await temporal.schedule.create({
      scheduleId: SWEEP_SCHEDULE,
      spec: { intervals: [{ every: '30 seconds' }] },
      policies: { overlap: 'SKIP', catchupWindow: '1 minute' },
      action: {
        type: 'startWorkflow',
        workflowType: WORKFLOW.sweep,
        workflowId: SWEEP_SCHEDULE,
        taskQueue: TASK_QUEUE.control,
        args: [],
        workflowRunTimeout: '10 minutes',
      },
    });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
  }
}

/** Has the sweep look now, or again when the one that runs is over. */
export async function triggerSweep(temporal: Client): Promise<void> {
  await temporal.schedule.getHandle(SWEEP_SCHEDULE).trigger('BUFFER_ONE');
}
