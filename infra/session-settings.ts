import { dirname, resolve } from 'node:path';
import { z } from 'zod';

/** Where the conversations of the built-in engine are kept besides the database. */
export const SessionSettings = z.strictObject({
  backend: z.literal('jsonl', 'must be "jsonl": in PostgreSQL they are kept always'),
  /** The folder of the session files; from the file that names it. It belongs to the workers of one machine. */
  folder: z.string().min(1).max(4_096),
});
export type SessionSettings = z.infer<typeof SessionSettings>;

/** With its folder as an absolute path. */
export function sessionsOf(settings: SessionSettings, file: string): SessionSettings {
  return { ...settings, folder: resolve(dirname(file), settings.folder) };
}
