import { z } from 'zod';
import type { NativeFrame } from '../../../contract/frames.ts';
import { NamedArtifact } from '../named-artifact.ts';

const Kept = z.object({ output: NamedArtifact });

/** What the driver took out of a frame because it is large (`kept.output`): a tool's output, or a file that a model made. */
export function keptOutput(frame: NativeFrame): NamedArtifact | undefined {
  return Kept.safeParse(frame['kept']).data?.output;
}
