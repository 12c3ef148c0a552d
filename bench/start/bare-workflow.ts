import { proxyActivities } from '@temporalio/workflow';
import type { BareActivities } from './bare-temporal.ts';

const options = { startToCloseTimeout: '1 minute' } as const;

/** As little as a workflow can be: one activity, on the workflow's own queue or on one that another worker serves. */
export async function bare(id: string, activityQueue: string | null): Promise<void> {
  const queue = activityQueue === null ? {} : { taskQueue: activityQueue };
  await proxyActivities<BareActivities>({ ...options, ...queue }).firstActivity(id);
}
