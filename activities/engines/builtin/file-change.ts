import { z } from 'zod';

/** What a tool changed in the workspace: the `details` of its result, and in the end a `file.changed`. */
export const FileChange = z.object({ path: z.string().min(1), changeType: z.enum(['create', 'edit']) });
export type FileChange = Readonly<z.infer<typeof FileChange>>;
