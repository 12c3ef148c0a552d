import type { ActivityInboundCallsInterceptor } from '@temporalio/worker';
import { assertSmall } from '../contract/payload-limit.ts';

/** Refuses an activity's result over 256 KiB: the rest belongs in Postgres, by id. */
export const smallResults: ActivityInboundCallsInterceptor = {
  async execute(input, next) {
    const result = await next(input);
    assertSmall('activity result', result);
    return result;
  },
};
