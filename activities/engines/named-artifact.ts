import { z } from 'zod';
import { ArtifactRef } from '../../contract/canonical.ts';

/** What is kept out of the lane, and its name. */
export const NamedArtifact = z.object({ artifact: ArtifactRef, name: z.string().min(1) });
export type NamedArtifact = z.infer<typeof NamedArtifact>;
