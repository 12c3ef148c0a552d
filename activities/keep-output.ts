import type { ToolResultMessage } from '../contract/agent-messages.ts';
import { TidemarkError } from '../contract/errors.ts';
import { putArtifact } from '../infra/postgres/artifact.ts';
import type { Dependencies } from './dependencies.ts';
import { textOverPreview } from './engines/builtin/frames.ts';
import type { NamedArtifact } from './engines/named-artifact.ts';

const TRIES = 5;

/** What of a tool's result is kept outside of the lane. */
export interface KeptOutput {
  /** Its text, where it is longer than its preview. */
  readonly output: NamedArtifact | null;
  /** What it changed in a file. */
  readonly diff: NamedArtifact | null;
}

export interface ToolStepOutput {
  readonly tenantId: string;
  readonly message: ToolResultMessage;
  readonly stepIndex: number;
  readonly diff: string | null;
}

/**
 * Keeps what of a tool's result does not go into the log, then lets the step end with references to it.
 *
 * **Contract:** the ids come from the content, so a repeated attempt refers to the same. An attempt that dies before the step's
 * end leaves artifacts that nobody refers to. One that is erased in between, with the last thread that referred to it, is
 * stored again.
 */
export async function withOutputKept(
  { pool }: Pick<Dependencies, 'pool'>,
  { tenantId, message, stepIndex, diff }: ToolStepOutput,
  end: (kept: KeptOutput) => Promise<void>,
): Promise<void> {
  const place = `${message.toolName}-${String(stepIndex)}`;
  const keep = async (
    text: string | null,
    kind: { type: string; extension: string },
  ): Promise<NamedArtifact | null> => {
    if (text === null) return null;
    const stored = { tenantId, contentType: `${kind.type}; charset=utf-8`, content: Buffer.from(text) };
    return { artifact: await putArtifact(pool, stored), name: `${place}.${kind.extension}` };
  };
  for (let tries = 1; ; tries++) {
    const output = await keep(textOverPreview(message), { type: 'text/plain', extension: 'txt' });
    const changed = await keep(diff, { type: 'text/x-diff', extension: 'diff' });
    try {
      return await end({ output, diff: changed });
    } catch (error) {
      const isErased = error instanceof TidemarkError && error.code === 'artifact_not_found';
      if (!isErased || tries === TRIES) throw error;
    }
  }
}
