/**
 * The two queues of input for a run that works (source facts C.6): `steering` is taken before the next model call, `follow_up` at
 * the run's natural stop, after steering.
 */
export const INPUT_QUEUES = ['steering', 'follow_up'] as const;
export type InputQueue = (typeof INPUT_QUEUES)[number];

/** `queued` until a model call takes it (`injected`), or until nothing will (`dropped`). */
export type InputState = 'queued' | 'injected' | 'dropped';

/** Why an input was dropped: a client cleared the queue, or its run ended. */
export const DROP_REASONS = ['cleared', 'run_ended'] as const;
export type DropReason = (typeof DROP_REASONS)[number];

/** The code of the warning by which lifecycle v1, which has no words for a user, shows an injected input. */
export const INPUT_INJECTED = 'input_injected';
