import {
  proxyActivities,
  proxyLocalActivities,
  type ActivityOptions,
  type LocalActivityOptions,
} from '@temporalio/workflow';
import { TASK_QUEUE } from '../contract/messages.ts';
import type { ControlActivities, EngineActivities } from '../activities/index.ts';

/** No error of these types is worth another attempt; the rest is decided where it is thrown. */
const nonRetryableErrorTypes = ['PayloadsTooLarge', 'payload_over_temporal_limit', 'lane_sealed', 'lane_fenced'];

/**
 * Engine work: waits for the engine to be really stopped, lives by heartbeats, is tried again after a deploy or a crash
 * (design §3, "Temporal settings that were found to matter"; pinned by `proxies.test.ts`).
 */
export const ENGINE_OPTIONS = {
  taskQueue: TASK_QUEUE.engine,
  startToCloseTimeout: '2 hours',
  heartbeatTimeout: '15 seconds',
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
  retry: {
    initialInterval: '500 milliseconds',
    maximumInterval: '10 seconds',
    // for minutes: a database that is away takes attempts. What fails by itself ends earlier (`activities/attempts.ts`)
    maximumAttempts: 30,
    nonRetryableErrorTypes,
  },
} as const satisfies ActivityOptions;

/** A turn of an engine with its own loop, which may hold a question open for long: its limits are the engine's own, watched where it runs. */
export const DRIVE_OPTIONS = {
  ...ENGINE_OPTIONS,
  startToCloseTimeout: '3 days',
} as const satisfies ActivityOptions;

/**
 * Bookkeeping that is worth a line in the Temporal UI, or that can take long. It lives by heartbeats too: a dead worker's would hold
 * up the sweep until its time is over.
 */
export const CONTROL_OPTIONS = {
  taskQueue: TASK_QUEUE.control,
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: '15 seconds',
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
  retry: {
    initialInterval: '500 milliseconds',
    maximumInterval: '30 seconds',
    maximumAttempts: 20,
    nonRetryableErrorTypes,
  },
} as const satisfies ActivityOptions;

/** Short bookkeeping: 6 ms where an activity costs 75 (research, "Local activities"). Tried until the database is back. */
export const LOCAL_OPTIONS = {
  startToCloseTimeout: '30 seconds',
  localRetryThreshold: '10 seconds',
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
  retry: {
    initialInterval: '200 milliseconds',
    maximumInterval: '15 seconds',
    maximumAttempts: 500,
    nonRetryableErrorTypes,
  },
} as const satisfies LocalActivityOptions;

export const engine = proxyActivities<EngineActivities>(ENGINE_OPTIONS);
export const control = proxyActivities<ControlActivities>(CONTROL_OPTIONS);
export const local = proxyLocalActivities<ControlActivities>(LOCAL_OPTIONS);
