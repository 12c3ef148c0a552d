import { z } from 'zod';
import type { Decision } from '../../contract/decision.ts';
import type { CreateRun } from '../../contract/rest.ts';
import { newIdempotencyKey } from './idempotency-key.ts';
import { everyItem } from './pages.ts';
import { Frame, Interrupt, pageOf, QueuedInput, Run, RunArtifact, ServerVerification, Step } from './resources.ts';
import { RunFold } from './run-fold.ts';
import type { DeliveredCompletion } from './thread-item.ts';
import { storedDeliveries } from './thread-page.ts';
import { pathOf, type Abortable, type Transport } from './transport.ts';
import { judgeRun, type RunVerification } from './verify-run.ts';

/** What happens while another run has the thread's turn. */
export type Multitask = 'enqueue' | 'reject' | 'steer' | 'follow_up' | 'interrupt';

/** A run to be started: the body of `POST /v1/runs`. */
export type NewRun = Omit<CreateRun, 'multitask'> & { readonly multitask?: Multitask | undefined };

export interface CreateOptions {
  /** The thread that it goes on in; a new one without. */
  readonly threadId?: string | undefined;
  /** Of the caller's own, to be safe over a restart of the caller too. */
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal | undefined;
}

const WAIT_SECONDS = 30;

/** Runs: start, read, wait, cancel, and what stands behind them. */
export class Runs {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Starts a run. **Contract:** one run, however often the request had to be sent: each try has the same `Idempotency-Key`. */
  async create(run: NewRun, options: CreateOptions = {}): Promise<Run> {
    const { threadId, idempotencyKey = newIdempotencyKey(), signal } = options;
    return await this.#transport.json(Run, {
      method: 'POST',
      path: threadId === undefined ? '/v1/runs' : pathOf`/v1/threads/${threadId}/runs`,
      body: run,
      headers: { 'idempotency-key': idempotencyKey },
      signal,
    });
  }

  async get(runId: string, { signal }: Abortable = {}): Promise<Run> {
    return await this.#transport.json(Run, { method: 'GET', path: pathOf`/v1/runs/${runId}`, signal });
  }

  /** The run, once it has its end: for as long as that takes. */
  async wait(runId: string, { signal }: Abortable = {}): Promise<Run> {
    const request = { method: 'GET', path: pathOf`/v1/runs/${runId}`, query: { wait: WAIT_SECONDS }, signal } as const;
    for (;;) {
      const run = await this.#transport.json(Run, { ...request, waitMs: WAIT_SECONDS * 1_000 });
      if (run.settled_at !== null) return run;
    }
  }

  /** Asks a run to stop; it has stopped when it is settled. */
  async cancel(runId: string, { signal }: Abortable = {}): Promise<Run> {
    return await this.#transport.json(Run, { method: 'POST', path: pathOf`/v1/runs/${runId}/cancel`, signal });
  }

  /** A thread's runs, newest first. */
  ofThread(threadId: string, { signal }: Abortable = {}): AsyncGenerator<Run, void, undefined> {
    return everyItem(this.#transport, Run, { path: pathOf`/v1/threads/${threadId}/runs`, signal });
  }

  async steps(runId: string, { signal }: Abortable = {}): Promise<Step[]> {
    const request = { method: 'GET', path: pathOf`/v1/runs/${runId}/steps`, signal } as const;
    return (await this.#transport.json(pageOf(Step), request)).data;
  }

  /** The native events behind a run, as they came. */
  frames(runId: string, { signal }: Abortable = {}): AsyncGenerator<Frame, void, undefined> {
    return everyItem(this.#transport, Frame, { path: pathOf`/v1/runs/${runId}/frames`, query: { limit: 200 }, signal });
  }

  artifacts(runId: string, { signal }: Abortable = {}): AsyncGenerator<RunArtifact, void, undefined> {
    return everyItem(this.#transport, RunArtifact, { path: pathOf`/v1/runs/${runId}/artifacts`, signal });
  }

  /** What waits to be handed to a run: steering and follow-ups. */
  inputs(runId: string, { signal }: Abortable = {}): AsyncGenerator<QueuedInput, void, undefined> {
    return everyItem(this.#transport, QueuedInput, { path: pathOf`/v1/runs/${runId}/inputs`, signal });
  }

  async clearInputs(runId: string, { signal }: Abortable = {}): Promise<void> {
    await this.#transport.json(z.unknown(), { method: 'DELETE', path: pathOf`/v1/runs/${runId}/inputs`, signal });
  }

  /** Answers several of a run's interrupts, all or none. */
  async resolve(
    runId: string,
    resolutions: readonly ({ readonly interrupt_id: string } & Decision)[],
    { signal }: Abortable = {},
  ): Promise<Interrupt[]> {
    const path = pathOf`/v1/runs/${runId}/interrupts/resolve`;
    const request = { method: 'POST', path, body: { resolutions }, signal } as const;
    return (await this.#transport.json(pageOf(Interrupt), request)).data;
  }

  /** What the server says of the run's proof: log and frames, by its own computation. */
  async serverVerification(runId: string, { signal }: Abortable = {}): Promise<ServerVerification> {
    const path = pathOf`/v1/runs/${runId}/verify`;
    return await this.#transport.json(ServerVerification, { method: 'GET', path, signal });
  }

  /** Reads a run's events from its thread's log, folds them, and proves them against the run's completion record. */
  async verify(runId: string, { signal }: Abortable = {}): Promise<RunVerification> {
    const { thread_id: threadId } = await this.get(runId, { signal });
    const fold = new RunFold();
    let recorded: DeliveredCompletion | null = null;
    const query = { runId, signal };
    for await (const delivery of storedDeliveries(this.#transport, threadId, query)) {
      if (delivery.type === 'event' && delivery.event.runId === runId) fold.add(delivery.event);
      if (delivery.type === 'complete' && delivery.complete.runId === runId) recorded = delivery.complete;
    }
    const server = await this.serverVerification(runId, { signal });
    return await judgeRun({ fold, recorded, server });
  }
}
