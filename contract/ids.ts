import { z } from 'zod';

const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}';

/** Ids are a noun's prefix and a UUIDv7, so they sort by time of creation (design §1). */
export const ThreadId = z.string().regex(new RegExp(`^thr_${UUID}$`), 'a thread id is thr_ and a UUIDv7');
export const RunId = z.string().regex(new RegExp(`^run_${UUID}$`), 'a run id is run_ and a UUIDv7');
export const InterruptId = z.string().regex(new RegExp(`^int_${UUID}$`), 'an interrupt id is int_ and a UUIDv7');

/** An artifact's id is made from its tenant and its content, not from the time. */
export const ArtifactId = z.string().regex(/^art_[0-9a-f]{32}$/, 'an artifact id is art_ and 32 hex digits');

export const ID_PREFIX = {
  thread: 'thr',
  run: 'run',
  interrupt: 'int',
  command: 'cmd',
  request: 'req',
  extensionCall: 'ext',
  artifact: 'art',
} as const;
export type IdNoun = keyof typeof ID_PREFIX;
