import type { ToolResultMessage } from '../contract/agent-messages.ts';
import { TidemarkError } from '../contract/errors.ts';
import { putArtifact } from '../infra/postgres/artifact.ts';
import type { Dependencies } from './dependencies.ts';
import { textOverPreview } from './engines/builtin/frames.ts';
import type { NamedArtifact } from './engines/named-artifact.ts';

const TRIES = 5;

/**
 * Keeps a result's text that is longer than its preview, then lets the step end with a reference to it; null when the preview
 * is the whole.
 *
 * **Contract:** the id comes from the content, so a repeated attempt refers to the same. An attempt that dies before the step's
 * end leaves an artifact that nobody refers to. One that is erased in between, with the last thread that referred to it, is
 * stored again.
 */
export async function withOutputKept(
  { pool }: Pick<Dependencies, 'pool'>,
  { tenantId, message, stepIndex }: { tenantId: string; message: ToolResultMessage; stepIndex: number },
  end: (output: NamedArtifact | null) => Promise<void>,
): Promise<void> {
  const text = textOverPreview(message);
  if (text === null) return await end(null);
  const stored = { tenantId, contentType: 'text/plain; charset=utf-8', content: Buffer.from(text) };
  for (let tries = 1; ; tries++) {
    const artifact = await putArtifact(pool, stored);
    try {
      return await end({ artifact, name: `${message.toolName}-${String(stepIndex)}.txt` });
    } catch (error) {
      const isErased = error instanceof TidemarkError && error.code === 'artifact_not_found';
      if (!isErased || tries === TRIES) throw error;
    }
  }
}
