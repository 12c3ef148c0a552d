import { TidemarkError } from '../../contract/errors.ts';
import { putArtifact } from '../../infra/postgres/artifact.ts';
import { linkArtifacts } from '../../infra/postgres/artifact-link.ts';
import type { RunRow } from '../../infra/postgres/run.ts';
import { lockThreadOfRun } from '../../infra/postgres/run.ts';
import { inTransaction } from '../../infra/postgres/transaction.ts';
import type { Dependencies } from '../dependencies.ts';
import type { NamedArtifact } from '../engines/named-artifact.ts';

const TRIES = 5;
const NAME_CHARS = 200;

/**
 * Keeps a text of an engine out of the log and links it to the run, before the frame that refers to it is stored.
 *
 * **Contract:** the id comes from the content. One that is erased between the two, with the last thread that referred to it, is
 * stored again.
 */
export async function keepForFrame(
  { pool }: Pick<Dependencies, 'pool'>,
  run: Pick<RunRow, 'run_id' | 'tenant_id'>,
  kept: { readonly name: string; readonly contentType: string; readonly text: string },
): Promise<NamedArtifact> {
  const { run_id: runId, tenant_id: tenantId } = run;
  const name = kept.name.slice(-NAME_CHARS) || 'unnamed';
  for (let tries = 1; ; tries++) {
    const content = Buffer.from(kept.text);
    const artifact = await putArtifact(pool, { tenantId, contentType: kept.contentType, content });
    try {
      await inTransaction(pool, async (client) => {
        await lockThreadOfRun(client, runId);
        await linkArtifacts(client, runId, [{ artifactId: artifact.artifactId, name }]);
      });
      return { artifact, name };
    } catch (error) {
      const isErased = error instanceof TidemarkError && error.code === 'artifact_not_found';
      if (!isErased || tries === TRIES) throw error;
    }
  }
}
