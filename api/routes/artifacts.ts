import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Router, type Request, type Response } from 'express';
import { TidemarkError } from '../../contract/errors.ts';
import { ArtifactId } from '../../contract/ids.ts';
import { ArtifactListQuery, NoQuery } from '../../contract/rest.ts';
import { findArtifact, readArtifact } from '../../infra/postgres/artifact.ts';
import { artifactsOfRun } from '../../infra/postgres/artifact-link.ts';
import { findRunOfTenant } from '../../infra/postgres/run.ts';
import { artifactHeaders, entityTag, namesTag, NOT_MODIFIED_HEADERS } from '../artifact-headers.ts';
import { tenantOf } from '../auth.ts';
import { byteRange } from '../byte-range.ts';
import type { Gateway } from '../gateway.ts';
import { pathOf, queryOf } from '../validate.ts';
import { runNotFound } from './runs.ts';

/** A client that takes nothing for so long is cut; it goes on with `Range`. */
const STALL_MS = 60_000;

/** What is too large for the log: which artifacts a run refers to, and their content (design §8). */
export function artifactRoutes({ pool }: Gateway): Router {
  const router = Router();

  router.get('/runs/:runId/artifacts', async (req, res) => {
    const { limit, cursor } = queryOf(req, ArtifactListQuery);
    const run = await findRunOfTenant(pool, tenantOf(res), pathOf(req, 'runId'));
    if (run === null) throw runNotFound();
    const after = cursor === undefined ? -1 : indexCursor(cursor);
    const rows = await artifactsOfRun(pool, { runId: run.run_id, after, limit: limit + 1 });
    const page = rows.slice(0, limit);
    const data = page.map((row) => ({
      artifact_id: row.artifact_id,
      name: row.name,
      bytes: row.bytes,
      sha256: row.sha256,
      content_type: row.content_type,
      created_at: row.created_at.toISOString(),
    }));
    res.json({ data, next_cursor: rows.length > limit ? String(page.at(-1)?.link_index) : null });
  });

  router.get('/artifacts/:artifactId', async (req, res) => {
    queryOf(req, NoQuery);
    const { artifact, name } = await artifactOf(req, res);
    const { artifactId, bytes, sha256 } = artifact;
    const headers = artifactHeaders(artifact, name);
    if (namesTag(req.get('If-None-Match'), entityTag(sha256))) {
      for (const header of NOT_MODIFIED_HEADERS) res.setHeader(header, headers[header]);
      res.status(304).end();
      return;
    }
    const range = rangeOf(req, sha256, bytes);
    if (range === 'unsatisfiable') {
      res.setHeader('Content-Range', `bytes */${String(bytes)}`);
      throw rangeNotSatisfiable(bytes);
    }
    const span = range ?? { first: 0, last: bytes - 1 };
    if (range !== null) {
      res.status(206).setHeader('Content-Range', `bytes ${String(span.first)}-${String(span.last)}/${String(bytes)}`);
    }
    for (const [header, value] of Object.entries(headers)) res.setHeader(header, value);
    res.setHeader('Content-Length', span.last - span.first + 1);
    if (req.method === 'HEAD') {
      res.end();
      return;
    }
    await send(res, readArtifact(pool, artifactId, span));
  });

  return router;

  async function artifactOf(req: Request, res: Response) {
    const artifactId = pathOf(req, 'artifactId');
    const isId = ArtifactId.safeParse(artifactId).success;
    const found = isId ? await findArtifact(pool, tenantOf(res), artifactId) : null;
    if (found === null) throw artifactNotFound();
    return found;
  }
}

/** `Range` belongs to GET alone, and `If-Range` lets it count only for the content that the client has a part of. */
function rangeOf(req: Request, sha256: string, bytes: number): ReturnType<typeof byteRange> {
  const ifRange = req.get('If-Range');
  const counts = req.method === 'GET' && (ifRange === undefined || ifRange === entityTag(sha256));
  return counts ? byteRange(req.get('Range'), bytes) : null;
}

/** The next chunk is read when the client has taken the one before; a client that goes away ends the reading. */
async function send(res: Response, content: AsyncIterable<Buffer>): Promise<void> {
  res.setTimeout(STALL_MS, () => res.destroy());
  try {
    await pipeline(Readable.from(content, { highWaterMark: 1 }), res);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
  }
}

/** The same words for an id that is malformed, a missing artifact and another tenant's. */
function artifactNotFound(): TidemarkError {
  return new TidemarkError(
    'artifact_not_found',
    'there is no such artifact',
    'Check the artifact id; GET /v1/runs/{id}/artifacts lists a run’s.',
  );
}

function rangeNotSatisfiable(bytes: number): TidemarkError {
  return new TidemarkError(
    'range_not_satisfiable',
    `the artifact has ${String(bytes)} bytes and the range begins behind them`,
    'Ask for bytes that are there, or leave Range out.',
    { facts: { bytes } },
  );
}

function indexCursor(cursor: string): number {
  if (/^\d{1,9}$/.test(cursor)) return Number(cursor);
  throw new TidemarkError('cursor_invalid', 'cursor is not one of this list', 'Send next_cursor as it was given.', {
    facts: { field: 'cursor', in: 'query' },
  });
}
