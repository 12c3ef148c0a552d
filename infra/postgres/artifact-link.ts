import { TidemarkError } from '../../contract/errors.ts';
import type { Queryable } from './transaction.ts';

/** An artifact that a run refers to, and the name under which it does. */
export interface NewArtifactLink {
  readonly artifactId: string;
  readonly name: string;
}

/**
 * Says that a run refers to artifacts, in the transaction of what refers to them.
 *
 * **Contract:** safe to repeat. Runs under the thread's lock, so indexes are dense. A link leads only to what is there and is
 * of the run's own tenant.
 *
 * @throws TidemarkError `artifact_not_found`: it was erased since it was stored. Store it again, then link it.
 */
export async function linkArtifacts(
  client: Queryable,
  runId: string,
  links: readonly NewArtifactLink[],
): Promise<void> {
  for (const { artifactId, name } of links) {
    const { rows } = await client.query<{ found: boolean }>({
      name: 'artifact-link',
      text: `with target as (
               select r.run_id, r.thread_id, a.artifact_id
                 from run r join artifact a using (tenant_id)
                where r.run_id = $1 and a.artifact_id = $2
                  for key share of a
             ), linked as (
               insert into artifact_link (run_id, link_index, artifact_id, thread_id, name)
               select run_id, (select coalesce(max(link_index), -1) + 1 from artifact_link where run_id = $1), artifact_id,
                      thread_id, $3
                 from target
               on conflict (run_id, artifact_id, name) do nothing
             )
             select exists (select from target) as found`,
      values: [runId, artifactId, name],
    });
    if (rows[0]?.found === true) continue;
    throw new TidemarkError(
      'artifact_not_found',
      `run ${runId} cannot refer to artifact ${artifactId}: it is not there`,
      'Store it again.',
    );
  }
}

export interface ArtifactLinkRow {
  readonly link_index: number;
  readonly artifact_id: string;
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly content_type: string;
  readonly created_at: Date;
}

/** The artifacts that a run refers to, in the order in which it came to them. */
export async function artifactsOfRun(
  db: Queryable,
  { runId, after, limit }: { runId: string; after: number; limit: number },
): Promise<ArtifactLinkRow[]> {
  const { rows } = await db.query<ArtifactLinkRow>({
    name: 'artifact-of-run',
    text: `select l.link_index, l.artifact_id, l.name, a.bytes, a.sha256, a.content_type, l.created_at
             from artifact_link l join artifact a using (artifact_id)
            where l.run_id = $1 and l.link_index > $2
            order by l.link_index
            limit $3`,
    values: [runId, after, limit],
  });
  return rows;
}

/**
 * Removes artifacts that nobody links: what a worker left behind that died between storing one and the end of its step.
 *
 * **Contract:** what was stored less than `olderThanMs` ago stays, since its link may be on the way. One that gets its link in the
 * same moment stays as well: the database refuses to remove what is referred to, and the next call does without it.
 */
export async function removeLeftArtifacts(
  db: Queryable,
  { olderThanMs, limit }: { olderThanMs: number; limit: number },
): Promise<number> {
  const { rowCount } = await db.query({
    name: 'artifact-remove-left',
    text: `delete from artifact
            where artifact_id in (select a.artifact_id from artifact a
                                   where a.touched_at < now() - make_interval(secs => $1)
                                     and not exists (select from artifact_link l where l.artifact_id = a.artifact_id)
                                   limit $2
                                     for update skip locked)`,
    values: [olderThanMs / 1_000, limit],
  });
  return rowCount ?? 0;
}
