import type { WorkflowClientInterceptor } from '@temporalio/client';
import { assertSmall } from '../../contract/payload-limit.ts';

/** Refuses what is over 256 KiB before it is sent: a large argument would loop a workflow for ever (research, §0.4). */
export const smallPayloads: WorkflowClientInterceptor = {
  async start(input, next) {
    assertSmall('workflow arguments', input.options.args);
    return await next(input);
  },
  async signal(input, next) {
    assertSmall(`signal ${input.signalName}`, input.args);
    return await next(input);
  },
};
