import { hash } from 'node:crypto';
import { Router, type Request, type Response } from 'express';
import { z } from 'zod';
import { answersOf, newInput, RunAgentInput } from '../../contract/ag-ui-input.ts';
import { canonicalJson } from '../../contract/canonical-json.ts';
import { TidemarkError } from '../../contract/errors.ts';
import { ThreadId } from '../../contract/ids.ts';
import { NoQuery } from '../../contract/rest.ts';
import { acceptRun, threadNotFound } from '../../infra/postgres/accept-run.ts';
import { requestCancel, runOfKey } from '../../infra/postgres/command.ts';
import { resolveInterrupts } from '../../infra/postgres/interrupt.ts';
import { knownMessageIds, latestRun, readRun, type RunRow } from '../../infra/postgres/run.ts';
import { threadOfClient, threadOfTenant, type ThreadRow } from '../../infra/postgres/thread.ts';
import { agUiFromStart } from '../run-stream/ag-ui-encoding.ts';
import { LegReader, readStored } from '../run-stream/leg-reader.ts';
import { streamLeg } from '../run-stream/stream-leg.ts';
import { tenantOf } from '../auth.ts';
import { assertEventsRetained } from '../cursor.ts';
import type { Gateway } from '../gateway.ts';
import { offerOf } from '../extension-providers.ts';
import { chooseEngine, offeredEngines } from '../models.ts';
import { assertInputSize } from '../input-size.ts';
import { tellTemporal, wakeRun } from '../tell-temporal.ts';
import { bodyOf, pathOf, queryOf } from '../validate.ts';

const ForwardedProps = z.looseObject({ model: z.string().max(200).optional() }).catch({});
const CancelInput = z.strictObject({ threadId: z.string().min(1), runId: z.string().min(1) });

/**
 * AG-UI 1.0 as its clients speak it: a `RunAgentInput` is a run, or the answer to what a run waits for; the response is the
 * stream (design §7). The client's thread and run ids are its own and are echoed.
 */
export function agUiRoutes(gateway: Gateway): Router {
  const { pool, engines, hub } = gateway;
  const router = Router();

  router.get('/ag-ui/:engine', (req, res) => {
    queryOf(req, NoQuery);
    const { engine, model } = chooseEngine(gateway, { engine: pathOf(req, 'engine'), model: undefined });
    res.json({
      identity: {
        name: engine,
        type: 'tidemark',
        metadata: { engines: offeredEngines(engines), default_model: model },
      },
      transport: { streaming: true, resumable: true, websocket: false, httpBinary: false, pushNotifications: false },
      tools: { supported: true, parallelCalls: true, clientProvided: false },
      output: { structuredOutput: false, supportedMimeTypes: ['text/plain'] },
      state: { snapshots: false, deltas: false, memory: false, persistentState: false },
      multiAgent: { supported: false },
      reasoning: { supported: true, streaming: true, encrypted: false },
      humanInTheLoop: { supported: true, approvals: true, interrupts: true, approveWithEdits: true },
    });
  });

  router.post('/ag-ui/:engine', async (req, res) => {
    hub.assertOpen();
    queryOf(req, NoQuery);
    const input = bodyOf(req, RunAgentInput);
    const thread = await threadOf(res, input.threadId);
    if ((input.resume?.length ?? 0) > 0) await resume(res, thread, input);
    else await start(req, res, thread, input);
  });

  router.post('/ag-ui/:engine/cancel', async (req, res) => {
    queryOf(req, NoQuery);
    const { threadId, runId } = bodyOf(req, CancelInput);
    const thread = await threadOf(res, threadId);
    const found = thread === null ? null : await runOfKey(pool, tenantOf(res), keyOf(threadId, runId));
    if (found === null) throw threadNotFound();
    const { run, outcome } = await requestCancel(pool, found);
    if (outcome === 'cancelling') tellTemporal(gateway, run.run_id, 'run.cancel');
    res.status(outcome === 'cancelling' ? 202 : 200).json({ run_id: run.run_id, status: run.status });
  });

  return router;

  async function threadOf(res: Response, threadId: string): Promise<ThreadRow | null> {
    if (!ThreadId.safeParse(threadId).success) return await threadOfClient(pool, tenantOf(res), threadId);
    const thread = await threadOfTenant(pool, tenantOf(res), threadId);
    if (thread === null) throw threadNotFound();
    return thread;
  }

  async function start(req: Request, res: Response, thread: ThreadRow | null, input: RunAgentInput): Promise<void> {
    const { model } = ForwardedProps.parse(input.forwardedProps ?? {});
    const chosen = chooseEngine(await offerOf(gateway), { engine: pathOf(req, 'engine'), model });
    const repeated = thread === null ? null : await runOfKey(pool, tenantOf(res), keyOf(input.threadId, input.runId));
    if (repeated !== null) return await stream(res, await readRun(pool, repeated), 1, [], input);
    if (thread !== null) await assertNothingWaits(thread);
    const known = thread === null ? new Set<string>() : await knownMessageIds(pool, thread.thread_id);
    const news = newInput(input.messages, known);
    if (news === null || news.input === '') throw nothingToRun();
    assertInputSize(news.input);
    const { run, created } = await acceptRun(pool, {
      tenantId: tenantOf(res),
      threadId: thread?.thread_id ?? null,
      clientThreadId: input.threadId,
      input: news.input,
      ...chosen,
      parentRunId: null,
      multitask: 'enqueue',
      settings: {},
      metadata: { ag_ui: { run_id: input.runId, message_ids: news.messageIds } },
      idempotencyKey: keyOf(input.threadId, input.runId),
      fingerprint: hash('sha256', canonicalJson({ threadId: input.threadId, runId: input.runId })),
    });
    if (created) tellTemporal(gateway, run.run_id, 'run.create');
    await stream(res, run, 1, [], input);
  }

  async function resume(res: Response, thread: ThreadRow | null, input: RunAgentInput): Promise<void> {
    const run = thread === null ? null : await latestRun(pool, thread.thread_id);
    if (run === null) throw nothingWaits();
    const reader = new LegReader(run, null);
    await readStored(pool, run, reader);
    const { phase, leg, pending, tools } = reader.state;
    if (phase !== 'paused' || pending.length === 0) throw nothingWaits();
    const resolutions = answersOf(input.resume ?? [], pending);
    for (const { interrupt, changed } of await resolveInterrupts(pool, resolutions, 'ag-ui')) {
      if (changed) wakeRun(gateway, interrupt);
    }
    await stream(
      res,
      run,
      leg + 1,
      Object.values(tools).map(({ id }) => id),
      input,
    );
  }

  async function stream(
    res: Response,
    run: RunRow,
    leg: number,
    unanswered: readonly string[],
    { threadId, runId }: RunAgentInput,
  ): Promise<void> {
    assertEventsRetained(run);
    const encode = agUiFromStart({ agentName: run.engine, threadId, runId }, unanswered);
    await streamLeg(hub, res, { run, leg, encode });
  }

  async function assertNothingWaits(thread: ThreadRow): Promise<void> {
    const run = await latestRun(pool, thread.thread_id);
    if (run === null || run.settled_at !== null) return;
    const reader = new LegReader(run, null);
    await readStored(pool, run, reader);
    const { phase, pending } = reader.state;
    if (phase === 'paused' && pending.length > 0) answersOf([], pending);
  }
}

/** A client's run id is its key: the same run posted again is the same run. */
function keyOf(threadId: string, runId: string): string {
  return `${threadId} ag-ui:${runId}`;
}

function nothingToRun(): TidemarkError {
  return new TidemarkError(
    'nothing_to_run',
    'the transcript has no user message that this thread does not know',
    'Add a user message with a new id, or answer what the run waits for in "resume".',
  );
}

function nothingWaits(): TidemarkError {
  return new TidemarkError(
    'interrupts_not_covered',
    'nothing in this thread waits for an answer',
    'Send the messages without "resume".',
    { facts: { open_interrupts: [] } },
  );
}
