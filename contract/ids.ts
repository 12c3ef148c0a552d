import { z } from 'zod';

const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}';

/** Ids are a noun's prefix and a UUIDv7, so they sort by time of creation (design §1). */
export const ThreadId = z.string().regex(new RegExp(`^thr_${UUID}$`), 'a thread id is thr_ and a UUIDv7');
export const RunId = z.string().regex(new RegExp(`^run_${UUID}$`), 'a run id is run_ and a UUIDv7');
export const InterruptId = z.string().regex(new RegExp(`^int_${UUID}$`), 'an interrupt id is int_ and a UUIDv7');

export const ID_PREFIX = { thread: 'thr', run: 'run', interrupt: 'int', command: 'cmd', request: 'req' } as const;
export type IdNoun = keyof typeof ID_PREFIX;
