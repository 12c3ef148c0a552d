import type { WorkflowInterceptorsFactory } from '@temporalio/workflow';
import { assertSmall } from '../contract/payload-limit.ts';

/** Refuses what is over 256 KiB before it leaves the workflow: an oversized argument would loop its task for ever. */
export const interceptors: WorkflowInterceptorsFactory = () => ({
  inbound: [
    {
      async execute(input, next) {
        const result = await next(input);
        assertSmall('workflow result', result);
        return result;
      },
    },
  ],
  outbound: [
    {
      async scheduleActivity(input, next) {
        assertSmall(`arguments of ${input.activityType}`, input.args);
        return await next(input);
      },
      async scheduleLocalActivity(input, next) {
        assertSmall(`arguments of ${input.activityType}`, input.args);
        return await next(input);
      },
      async startChildWorkflowExecution(input, next) {
        assertSmall(`arguments of ${input.workflowType}`, input.options.args);
        return await next(input);
      },
      async continueAsNew(input, next) {
        assertSmall('continue-as-new arguments', input.args);
        return await next(input);
      },
    },
  ],
});
