import { createHash, hash, randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { ArtifactRef } from '../../contract/canonical.ts';
import { artifactIdOf } from '../ids.ts';
import { inTransaction, type Queryable } from './transaction.ts';

/** What one row holds, and what a reader has in memory. */
const CHUNK_BYTES = 256 * 1024;

export interface NewArtifact {
  readonly tenantId: string;
  readonly contentType: string;
  readonly content: Buffer | AsyncIterable<Uint8Array>;
}

/**
 * Stores content once for a tenant, under an id made from the content, in a transaction of its own.
 *
 * **Contract:** safe to repeat and to race: the same content gives the same reference, with the type under which it was stored
 * first. All or nothing: content that fails on the way leaves nothing. Of content that comes in parts, at most one chunk is in
 * memory. What nobody links afterwards is left over, never a broken reference.
 */
export async function putArtifact(pool: pg.Pool, artifact: NewArtifact): Promise<ArtifactRef> {
  const { tenantId, content } = artifact;
  if (!Buffer.isBuffer(content)) return await inTransaction(pool, (client) => store(client, artifact, content));
  const held = await touch(pool, artifactIdOf(tenantId, hash('sha256', content)));
  return held ?? (await inTransaction(pool, (client) => store(client, artifact, [content])));
}

/** Chunks go in under a passing name; with the end of the content come its hash and its id. */
async function store(
  client: Queryable,
  { tenantId, contentType }: NewArtifact,
  content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<ArtifactRef> {
  const staged = `staged_${randomUUID()}`;
  const digest = createHash('sha256');
  let bytes = 0;
  for await (const chunk of inChunks(content)) {
    digest.update(chunk);
    await client.query({
      name: 'artifact-chunk-insert',
      text: 'insert into artifact_chunk (artifact_id, first_byte, content) values ($1, $2, $3)',
      values: [staged, bytes, chunk],
    });
    bytes += chunk.length;
  }
  const sha256 = digest.digest('hex');
  const artifactId = artifactIdOf(tenantId, sha256);
  for (;;) {
    const { rowCount } = await client.query({
      name: 'artifact-insert',
      text: `insert into artifact (artifact_id, tenant_id, sha256, bytes, content_type)
             values ($1, $2, $3, $4, $5)
             on conflict do nothing`,
      values: [artifactId, tenantId, sha256, bytes, contentType],
    });
    const held = rowCount === 1 ? null : await touch(client, artifactId);
    // there, and then not there any more: it was erased between the two
    if (rowCount !== 1 && held === null) continue;
    await (held === null ? nameChunks(client, staged, artifactId) : dropChunks(client, staged));
    return held ?? { artifactId, bytes, sha256, contentType };
  }
}

async function nameChunks(client: Queryable, staged: string, artifactId: string): Promise<void> {
  await client.query({
    name: 'artifact-chunk-name',
    text: 'update artifact_chunk set artifact_id = $2 where artifact_id = $1',
    values: [staged, artifactId],
  });
}

async function dropChunks(client: Queryable, staged: string): Promise<void> {
  await client.query({
    name: 'artifact-chunk-drop',
    text: 'delete from artifact_chunk where artifact_id = $1',
    values: [staged],
  });
}

async function touch(db: Queryable, artifactId: string): Promise<ArtifactRef | null> {
  const { rows } = await db.query<ArtifactRow>({
    name: 'artifact-touch',
    text: 'update artifact set touched_at = now() where artifact_id = $1 returning *',
    values: [artifactId],
  });
  return rows[0] === undefined ? null : refOf(rows[0]);
}

/** Content cut into chunks of the stored size, whatever the size of the parts it comes in. */
async function* inChunks(content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): AsyncGenerator<Buffer> {
  let waiting: Buffer[] = [];
  let size = 0;
  for await (const part of content) {
    for (let start = 0; start < part.length;) {
      const piece = part.subarray(start, start + CHUNK_BYTES - size);
      // a copy: the source may use its memory again
      waiting.push(Buffer.from(piece));
      size += piece.length;
      start += piece.length;
      if (size < CHUNK_BYTES) continue;
      yield Buffer.concat(waiting);
      waiting = [];
      size = 0;
    }
  }
  if (size > 0) yield Buffer.concat(waiting);
}

interface ArtifactRow {
  readonly artifact_id: string;
  readonly tenant_id: string;
  readonly sha256: string;
  readonly bytes: number;
  readonly content_type: string;
}

function refOf(row: ArtifactRow): ArtifactRef {
  return { artifactId: row.artifact_id, bytes: row.bytes, sha256: row.sha256, contentType: row.content_type };
}

/** An artifact of one tenant and the name by which a run first referred to it; null for a missing and a foreign one alike. */
export async function findArtifact(
  db: Queryable,
  tenantId: string,
  artifactId: string,
): Promise<{ readonly artifact: ArtifactRef; readonly name: string | null } | null> {
  const { rows } = await db.query<ArtifactRow & { readonly name: string | null }>({
    name: 'artifact-find',
    text: `select a.*, (select l.name from artifact_link l
                         where l.artifact_id = a.artifact_id
                         order by l.run_id, l.link_index
                         limit 1) as name
             from artifact a
            where a.artifact_id = $1 and a.tenant_id = $2`,
    values: [artifactId, tenantId],
  });
  return rows[0] === undefined ? null : { artifact: refOf(rows[0]), name: rows[0].name };
}

/** The bytes from `first` to `last`, both included. */
export interface ByteSpan {
  readonly first: number;
  readonly last: number;
}

/**
 * Reads a span of an artifact, chunk by chunk.
 *
 * **Contract:** no connection is held between chunks, however slow the reader is. An artifact that is erased on the way is an
 * error, never a shorter one.
 */
export async function* readArtifact(db: Queryable, artifactId: string, span: ByteSpan): AsyncGenerator<Buffer> {
  for (let next = span.first; next <= span.last;) {
    const { rows } = await db.query<{ bytes: Buffer }>({
      name: 'artifact-read',
      text: `select substring(content from ($2 - first_byte + 1)::integer for $3) as bytes
               from artifact_chunk
              where artifact_id = $1 and first_byte <= $2
              order by first_byte desc
              limit 1`,
      values: [artifactId, next, Math.min(span.last - next + 1, CHUNK_BYTES)],
    });
    const bytes = rows[0]?.bytes;
    if (bytes === undefined || bytes.length === 0)
      throw new Error(`artifact ${artifactId} has no byte ${String(next)}: it was erased`);
    yield bytes;
    next += bytes.length;
  }
}
