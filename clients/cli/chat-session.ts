import type { Decision } from '../../contract/decision.ts';
import { TidemarkApiError } from '../typescript/api-error.ts';
import type { TidemarkClient } from '../typescript/client.ts';
import type { FollowOptions } from '../typescript/follow-thread.ts';
import type { ActionOutcome, Interrupt, Run } from '../typescript/resources.ts';
import type { Multitask } from '../typescript/runs.ts';
import type { ThreadItem } from '../typescript/thread-item.ts';
import { LiveRuns } from './live-runs.ts';
import { OpenInterrupts } from './open-interrupts.ts';

export interface ChatOptions {
  /** The thread to go on in; a new one without. */
  readonly threadId?: string | undefined;
  readonly engine?: string | undefined;
  readonly model?: string | undefined;
}

export interface Submitted {
  readonly run: Run;
  /** The queue of the running run that took the text; null when it is a run of its own. */
  readonly queue: string | null;
  /** What was asked for and this server does not have: the text waits for its turn instead. */
  readonly instead: Multitask | null;
}

/**
 * One conversation: a thread, what is said in it, and what it waits for. What every presenter stands on.
 *
 * **Contract:** `items` gives each delivery of the conversation once, over reconnects and over calls of `items`; what is live
 * and what is open is known from them before they are given. After `reset` the next text begins a new conversation.
 */
export class ChatSession {
  readonly client: TidemarkClient;
  readonly #options: ChatOptions;
  #threadId: string | null;
  #cursor = 0;
  #live = new LiveRuns();
  #interrupts = new OpenInterrupts();
  /** Ends the wait for a thread, or the following of the one before. */
  #changed = new AbortController();

  constructor(client: TidemarkClient, options: ChatOptions = {}) {
    this.client = client;
    this.#options = options;
    this.#threadId = options.threadId ?? null;
  }

  get threadId(): string | null {
    return this.#threadId;
  }

  get isBusy(): boolean {
    return !this.#live.isIdle;
  }

  /** What waits for a person, in the order in which it was asked. */
  get openInterrupts(): readonly string[] {
    return this.#interrupts.ids;
  }

  /** Goes on in the given thread from where it stands now: its past is not given, what is live and open of it is known. */
  async joinAtHead(): Promise<void> {
    const threadId = this.#threadId;
    if (threadId === null) return;
    const { head, active_run_id: active } = await this.client.threads.get(threadId);
    this.#cursor = head;
    if (active !== null) this.#live.add(active);
    for await (const open of this.client.interrupts.list({ threadId })) {
      this.#interrupts.open(open.interrupt_id, open.run_id);
    }
  }

  /** Says something: a run of its own, or, with `steer` and `follow_up`, a line for the run that has the turn. */
  async submit(text: string, multitask?: Multitask): Promise<Submitted> {
    try {
      return { ...(await this.#start(text, multitask)), instead: null };
    } catch (error) {
      if (multitask === undefined || !isUnknownMultitask(error)) throw error;
      return { ...(await this.#start(text, undefined)), instead: multitask };
    }
  }

  async #start(text: string, multitask: Multitask | undefined): Promise<Pick<Submitted, 'run' | 'queue'>> {
    const { engine, model } = this.#options;
    const threadId = this.#threadId ?? undefined;
    const run = await this.client.runs.create({ input: text, engine, model, multitask }, { threadId });
    const queue = run.queued_input?.queue ?? null;
    if (queue === null) this.#live.add(run.run_id);
    if (this.#threadId === null) this.#take(run.thread_id);
    return { run, queue };
  }

  async resolve(interruptId: string, decision: Decision): Promise<Interrupt> {
    const interrupt = await this.client.interrupts.resolve(interruptId, decision);
    this.#interrupts.close(interruptId);
    return interrupt;
  }

  /** Asks the run that has the turn to stop; false when there is none. */
  async cancel(): Promise<boolean> {
    const runId = this.#live.active;
    if (runId === null) return false;
    await this.client.runs.cancel(runId);
    return true;
  }

  /** @throws TidemarkApiError `thread_not_found` before anything was said. */
  async command(name: string, args: string): Promise<ActionOutcome> {
    return await this.client.threads.command(this.#thread(), name, args);
  }

  /** @throws TidemarkApiError `thread_not_found` before anything was said. */
  async control(name: string): Promise<ActionOutcome> {
    return await this.client.threads.control(this.#thread(), name);
  }

  /** Leaves the conversation; it stays where it is. */
  reset(): void {
    this.#take(null);
  }

  /** Everything of the conversation, and what comes, until the signal aborts. */
  async *items(options: { readonly signal: AbortSignal } & FollowOptions): AsyncGenerator<ThreadItem, void, undefined> {
    const { signal } = options;
    const isOver = () => signal.aborted;
    while (!isOver()) {
      const changed = this.#changed.signal;
      const both = AbortSignal.any([signal, changed]);
      if (this.#threadId === null) await aborted(both);
      else yield* this.#follow(this.#threadId, { ...options, signal: both });
      // a thread that is gone is not followed again
      if (!both.aborted) await aborted(both);
    }
  }

  async *#follow(threadId: string, options: FollowOptions): AsyncGenerator<ThreadItem, void, undefined> {
    for await (const item of this.client.threads.follow(threadId, { ...options, after: this.#cursor })) {
      if (this.#threadId !== threadId) return;
      if ('deliverySeq' in item) this.#cursor = item.deliverySeq;
      this.#live.take(item);
      this.#interrupts.take(item);
      yield item;
    }
  }

  #take(threadId: string | null): void {
    this.#threadId = threadId;
    this.#cursor = 0;
    if (threadId === null) {
      this.#live = new LiveRuns();
      this.#interrupts = new OpenInterrupts();
    }
    this.#changed.abort();
    this.#changed = new AbortController();
  }

  #thread(): string {
    if (this.#threadId !== null) return this.#threadId;
    throw new TidemarkApiError('thread_not_found', 'nothing was said yet', 'Say something first, or give --thread.');
  }
}

/** The refusal of a server that does not know the value yet. */
function isUnknownMultitask(error: unknown): boolean {
  if (!(error instanceof TidemarkApiError) || error.code !== 'invalid_request') return false;
  return error.facts['field'] === 'multitask' || error.message.includes('multitask');
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}
