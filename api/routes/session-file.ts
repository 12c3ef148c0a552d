import { hash } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { raw, Router, type Request, type Response } from 'express';
import { TidemarkError } from '../../contract/errors.ts';
import { ImportQuery, SessionFileQuery } from '../../contract/rest.ts';
import { examineSession, type NumberedLine } from '../../contract/session-doctor.ts';
import type { SessionHeader } from '../../contract/session-entry.ts';
import {
  IMPORT_LIMIT_BYTES,
  IMPORT_LIMIT_MESSAGES,
  planImport,
  type ImportProblem,
} from '../../contract/session-import.ts';
import {
  readSessionLine,
  SESSION_CONTENT_TYPE,
  SESSION_VERSION,
  writeSessionLine,
} from '../../contract/session-jsonl.ts';
import { repairedSession } from '../../contract/session-repair.ts';
import { threadNotFound } from '../../infra/postgres/accept-run.ts';
import { importSession } from '../../infra/postgres/import-session.ts';
import { findRunOfTenant, latestRun, type RunRow } from '../../infra/postgres/run.ts';
import { lineOfRun, messagesOfLine } from '../../infra/postgres/session-line.ts';
import { threadOfTenant, type ThreadRow } from '../../infra/postgres/thread.ts';
import { triggerSweep } from '../../infra/temporal/sweep-schedule.ts';
import { tenantOf } from '../auth.ts';
import type { Gateway } from '../gateway.ts';
import { viewThread } from '../thread-view.ts';
import { pathOf, queryOf } from '../validate.ts';
import { idempotencyKey, runNotFound } from './runs.ts';

/** Lines read before other requests get their turn. */
const LINES_PER_TURN = 200;
/** A client that takes nothing for so long is cut. */
const STALL_MS = 60_000;

/** A thread's conversation as a session file, and a session file as a thread. */
export function sessionFileRoutes(gateway: Gateway): Router {
  const { pool, config, temporal, log } = gateway;
  const router = Router();

  router.get('/threads/:threadId/session.jsonl', async (req, res) => {
    const { run_id: runId } = queryOf(req, SessionFileQuery);
    const tenantId = tenantOf(res);
    const thread = await threadOfTenant(pool, tenantId, pathOf(req, 'threadId'));
    if (thread === null) throw threadNotFound();
    const run = await runOf(thread, tenantId, runId);
    res.type(SESSION_CONTENT_TYPE);
    res.setHeader('Content-Disposition', `attachment; filename="${thread.thread_id}.jsonl"`);
    if (req.method === 'HEAD') return void res.end();
    res.setTimeout(STALL_MS, () => res.destroy());
    await send(res, linesOf(thread, run));
  });

  router.post('/threads/import', ndjsonOnly, raw({ type: () => true, limit: IMPORT_LIMIT_BYTES }), async (req, res) => {
    const { repair } = queryOf(req, ImportQuery);
    const body = Buffer.isBuffer(req.body) ? req.body : Buffer.alloc(0);
    const key = idempotencyKey(req, 'import');
    const lines = await readLines(body);
    const issues = repair === '1' ? examineSession(lines) : [];
    const plan = planImport(issues.length === 0 ? lines : repaired(lines));
    if (!plan.ok) throw malformed(plan.problem);
    const { threadId, created } = await importSession(pool, {
      tenantId: tenantOf(res),
      threadId: null,
      parentRunId: null,
      turns: plan.turns,
      model: config.model,
      idempotency: key === null ? null : { key, fingerprint: `${hash('sha256', body)} ${repair}` },
    });
    if (created) {
      triggerSweep(temporal).catch((error: unknown) => {
        log.warn({ err: error, threadId }, 'the sweep was not told of an import; it looks by itself');
      });
    }
    const thread = await threadOfTenant(pool, tenantOf(res), threadId);
    if (thread === null) throw threadNotFound();
    res
      .status(created ? 201 : 200)
      .location(`/v1/threads/${threadId}`)
      .json(repair === '1' ? { ...viewThread(thread), repaired: issues } : viewThread(thread));
  });

  return router;

  async function runOf(thread: ThreadRow, tenantId: string, runId: string | undefined): Promise<RunRow | null> {
    if (runId === undefined) return await latestRun(pool, thread.thread_id);
    const run = await findRunOfTenant(pool, tenantId, runId);
    if (run?.thread_id !== thread.thread_id) throw runNotFound();
    return run;
  }

  async function* linesOf(thread: ThreadRow, run: RunRow | null): AsyncGenerator<string> {
    const { thread_id: id, created_at: createdAt } = thread;
    yield writeSessionLine({
      type: 'session',
      version: SESSION_VERSION,
      id,
      timestamp: createdAt.toISOString(),
      cwd: '/',
    });
    let parentId: string | null = null;
    const line = run === null ? [] : await lineOfRun(pool, run.run_id);
    for await (const { runId, index, message } of messagesOfLine(pool, line)) {
      const entryId = `${runId}.${String(index)}`;
      const timestamp = new Date(message.timestamp).toISOString();
      yield writeSessionLine({ type: 'message', id: entryId, parentId, timestamp, message });
      parentId = entryId;
    }
  }
}

/** The next page is read when the client has taken the one before; a client that goes away ends the reading. */
async function send(res: Response, lines: AsyncIterable<string>): Promise<void> {
  try {
    await pipeline(Readable.from(lines, { objectMode: true, highWaterMark: 16 }), res);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
  }
}

function ndjsonOnly(req: Request, _res: Response, next: () => void): void {
  if (req.is(SESSION_CONTENT_TYPE) === false)
    throw new TidemarkError(
      'unsupported_media_type',
      `the body is not ${SESSION_CONTENT_TYPE}`,
      `Send the session file with the header "Content-Type: ${SESSION_CONTENT_TYPE}".`,
    );
  next();
}

/** Stands in for a header that is missing. */
const NO_HEADER: SessionHeader = { type: 'session', version: SESSION_VERSION, id: 'unknown', timestamp: '', cwd: '/' };

function repaired(lines: readonly NumberedLine[]): NumberedLine[] {
  return repairedSession(lines, NO_HEADER).map((line, index) => ({ number: index + 1, read: { ok: true, line } }));
}

/** The lines of a body, understood or not; empty ones are left out. */
async function readLines(body: Buffer): Promise<NumberedLine[]> {
  const texts = decoded(body).split('\n');
  const lines: NumberedLine[] = [];
  for (const [index, text] of texts.entries()) {
    if (index % LINES_PER_TURN === LINES_PER_TURN - 1) await nextTurn();
    if (text.trim() === '') continue;
    lines.push({ number: index + 1, read: readSessionLine(text) });
    if (lines.length > IMPORT_LIMIT_MESSAGES + 1) throw tooManyLines();
  }
  return lines;
}

function decoded(body: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    throw malformed({ line: 0, reason: 'malformed_json', detail: 'the body is not UTF-8' });
  }
}

function malformed({ line, reason, detail }: ImportProblem): TidemarkError {
  const where = line === 0 ? '' : `line ${String(line)}: `;
  return new TidemarkError(
    'session_malformed',
    `the session cannot be imported: ${where}${detail}`,
    'Correct or remove that line and send the file again, or send it with ?repair=1. Nothing of it was stored.',
    { facts: { line, reason } },
  );
}

function tooManyLines(): TidemarkError {
  return new TidemarkError(
    'payload_too_large',
    `the session has more than ${String(IMPORT_LIMIT_MESSAGES)} entries`,
    'Compact the conversation where it is, or import its newest part.',
    { facts: { limit_entries: IMPORT_LIMIT_MESSAGES } },
  );
}
