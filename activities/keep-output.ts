import type { ToolResultMessage } from '../contract/agent-messages.ts';
import { TidemarkError } from '../contract/errors.ts';
import { putArtifact } from '../infra/postgres/artifact.ts';
import type { Dependencies } from './dependencies.ts';
import { textOverPreview } from './engines/builtin/frames.ts';
import type { ToolAside } from './engines/builtin/tools/tool.ts';
import type { NamedArtifact } from './engines/named-artifact.ts';

const TRIES = 5;
const TEXT = 'text/plain; charset=utf-8';
const DIFF = 'text/x-diff; charset=utf-8';

/** What of a tool's result is kept outside of the lane. */
export interface KeptOutput {
  /** Its text, where it is longer than its preview. */
  readonly output: NamedArtifact | null;
  /** What it changed in a file. */
  readonly diff: NamedArtifact | null;
  /** What the tool was asked to keep. */
  readonly saved: NamedArtifact | null;
}

export interface ToolStepOutput {
  readonly tenantId: string;
  readonly message: ToolResultMessage;
  readonly stepIndex: number;
  readonly aside: ToolAside;
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
  { tenantId, message, stepIndex, aside }: ToolStepOutput,
  end: (kept: KeptOutput) => Promise<void>,
): Promise<void> {
  const place = `${message.toolName}-${String(stepIndex)}`;
  const text = aside.output ?? textOverPreview(message);
  const output = text === null ? null : { name: `${place}.txt`, contentType: TEXT, content: text };
  const diff = aside.diff === undefined ? null : { name: `${place}.diff`, contentType: DIFF, content: aside.diff };
  const keep = async (kept: Content | null): Promise<NamedArtifact | null> => {
    if (kept === null) return null;
    const { name, contentType } = kept;
    const content = typeof kept.content === 'string' ? Buffer.from(kept.content) : kept.content;
    return { artifact: await putArtifact(pool, { tenantId, contentType, content }), name };
  };
  for (let tries = 1; ; tries++) {
    const kept = { output: await keep(output), diff: await keep(diff), saved: await keep(aside.saved ?? null) };
    try {
      return await end(kept);
    } catch (error) {
      const isErased = error instanceof TidemarkError && error.code === 'artifact_not_found';
      if (!isErased || tries === TRIES) throw error;
    }
  }
}

interface Content {
  readonly name: string;
  readonly contentType: string;
  readonly content: Buffer | string;
}
