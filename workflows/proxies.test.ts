import { describe, expect, it } from 'vitest';
import { TASK_QUEUE } from '../contract/messages.ts';
import { CONTROL_OPTIONS, ENGINE_OPTIONS, LOCAL_OPTIONS } from './proxies.ts';

describe('the activity options that were found to matter (design §3)', () => {
  it('wait until a cancelled engine has really stopped', () => {
    for (const options of [ENGINE_OPTIONS, CONTROL_OPTIONS, LOCAL_OPTIONS]) {
      expect(options.cancellationType).toBe('WAIT_CANCELLATION_COMPLETED');
    }
  });

  it('never give up after one attempt, and never repeat what cannot get better', () => {
    for (const { retry } of [ENGINE_OPTIONS, CONTROL_OPTIONS, LOCAL_OPTIONS]) {
      expect(retry.maximumAttempts).toBeGreaterThanOrEqual(3);
      expect(retry.nonRetryableErrorTypes).toEqual(
        expect.arrayContaining(['PayloadsTooLarge', 'payload_over_temporal_limit', 'lane_sealed', 'lane_fenced']),
      );
    }
    expect(ENGINE_OPTIONS.retry.maximumAttempts).toBeLessThanOrEqual(30);
  });

  it('tell a dead worker by its heartbeat within 15 s, and run engines on a queue of their own', () => {
    expect(ENGINE_OPTIONS.heartbeatTimeout).toBe('15 seconds');
    expect(CONTROL_OPTIONS.heartbeatTimeout).toBe('15 seconds');
    expect(ENGINE_OPTIONS.taskQueue).toBe(TASK_QUEUE.engine);
    expect(CONTROL_OPTIONS.taskQueue).toBe(TASK_QUEUE.control);
  });
});
