import { z } from 'zod';
import { ArtifactRef } from '../../../contract/canonical.ts';

/** What a tool changed in the workspace: the `details` of its result, and with its diff, which is kept apart, a `file.changed`. */
export const FileChange = z.object({
  path: z.string().min(1),
  changeType: z.enum(['create', 'edit']),
  diff: ArtifactRef.optional(),
});
export type FileChange = Readonly<z.infer<typeof FileChange>>;
