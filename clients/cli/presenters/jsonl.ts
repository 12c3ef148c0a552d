import { createInterface } from 'node:readline';
import { z } from 'zod';
import { Decision } from '../../../contract/decision.ts';
import { pause } from '../../typescript/backoff.ts';
import type { Presenter, PresenterContext } from '../presenter.ts';
import { failureOf, type Failure } from '../report.ts';
import { writeWhole } from '../streams.ts';

/** A line on standard input. */
const Said = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('prompt'),
    text: z.string().min(1),
    multitask: z.enum(['enqueue', 'reject', 'steer', 'follow_up', 'interrupt']).optional(),
  }),
  z.strictObject({ type: z.literal('resolve'), interrupt_id: z.string(), decision: Decision }),
  z.strictObject({ type: z.literal('command'), name: z.string(), args: z.string().default('') }),
  z.strictObject({ type: z.literal('control'), name: z.string() }),
  z.strictObject({ type: z.literal('cancel') }),
]);
type Said = z.infer<typeof Said>;

/**
 * For programs: every delivery is a line of JSON on standard output, prompts and answers are lines of JSON on standard input.
 *
 * **Contract:** lines are taken one after the other, each answered by a line of its own (`run`, `resolved`, `outcome`,
 * `cancelling` or `error`) before the next is taken. At the end of the input it ends when no run is live, with 0 if the last run that it
 * started completed and no line was in error; what then waits for a person is an `error` line, and 1.
 */
export const jsonlPresenter: Presenter = {
  name: 'jsonl',
  async run(context) {
    const { session, streams, prompt, signal } = context;
    const over = new AbortController();
    const ending = AbortSignal.any([signal, over.signal]);
    const conversation = new JsonlConversation({ ...context, signal: ending });
    await session.joinAtHead();
    const giving = conversation.giveItems();
    try {
      // a stream that ends, because its thread is gone or for an error, ends everything
      await Promise.race([giving, conversation.takeLines(prompt, streams.input)]);
      await Promise.race([giving, conversation.untilIdle()]);
    } finally {
      over.abort();
    }
    await giving;
    context.exitWith(await conversation.judge());
  },
};

class JsonlConversation {
  readonly #context: PresenterContext;
  /** The newest run that was started here. */
  #runId: string | null = null;
  readonly #proven = new Set<string>();
  #hasFailed = false;
  #waiting: (() => void)[] = [];

  constructor(context: PresenterContext) {
    this.#context = context;
  }

  async giveItems(): Promise<void> {
    const { session, streams, signal } = this.#context;
    for await (const item of session.items({ signal, onCursorLost: 'oldest' })) {
      await writeWhole(streams.output, `${JSON.stringify(item)}\n`);
      if (item.type === 'complete') this.#proven.add(item.complete.runId);
      this.#wake();
      if (item.type === 'gone') return;
    }
  }

  async takeLines(prompt: string | null, input: NodeJS.ReadableStream): Promise<void> {
    if (prompt !== null) await this.#take({ type: 'prompt', text: prompt });
    const lines = createInterface({ input, crlfDelay: Infinity });
    const { signal } = this.#context;
    if (signal.aborted) lines.close();
    signal.addEventListener('abort', () => lines.close(), { once: true });
    for await (const line of lines) if (line.trim() !== '') await this.#takeLine(line);
  }

  /** Until nothing is live and all is proven, or what is live waits for someone who cannot be heard any more. */
  async untilIdle(): Promise<void> {
    const { session, signal } = this.#context;
    while (!signal.aborted && (session.isBusy || (await this.#lacksProof()))) {
      const [open] = session.openInterrupts;
      if (open !== undefined) return this.#fail(inputEnded(open));
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
        void pause(RECHECK_MS, signal).then(() => resolve());
      });
    }
  }

  /** The exit code. */
  async judge(): Promise<number> {
    if (this.#hasFailed) return 1;
    if (this.#runId === null) return 0;
    const { status } = await this.#context.session.client.runs.get(this.#runId);
    return status === 'completed' ? 0 : 1;
  }

  /** A run whose proof was given up has its end and will have no record. */
  async #lacksProof(): Promise<boolean> {
    if (this.#runId === null || this.#proven.has(this.#runId)) return false;
    const { canonical_state: state } = await this.#context.session.client.runs.get(this.#runId);
    return state !== 'dead';
  }

  async #takeLine(line: string): Promise<void> {
    const parsed = Said.safeParse(jsonOf(line));
    if (parsed.success) return await this.#take(parsed.data);
    const [issue] = parsed.error.issues;
    const where = issue === undefined || issue.path.length === 0 ? 'the line' : issue.path.map(String).join('.');
    this.#fail({ code: 'invalid_invocation', message: `${where}: ${issue?.message ?? 'no JSON'}`, remedy: FORMS });
  }

  async #take(said: Said): Promise<void> {
    try {
      await this.#do(said);
    } catch (error) {
      this.#fail(failureOf(error));
    }
  }

  async #do(said: Said): Promise<void> {
    const { session, bus } = this.#context;
    switch (said.type) {
      case 'prompt': {
        const { run, queue, instead } = await session.submit(said.text, said.multitask);
        if (queue === null) this.#runId = run.run_id;
        return this.#write({ type: 'run', run, queue, ...(instead === null ? {} : { not_supported: instead }) });
      }
      case 'resolve':
        return this.#write({ type: 'resolved', interrupt: await session.resolve(said.interrupt_id, said.decision) });
      case 'cancel':
        return this.#write({ type: 'cancelling', is_busy: await session.cancel() });
      case 'command':
      case 'control': {
        const outcome =
          said.type === 'command' ? await session.command(said.name, said.args) : await session.control(said.name);
        this.#write({ type: 'outcome', name: said.name, ...outcome });
        for (const event of outcome.events) bus.emit(event);
      }
    }
  }

  #fail({ code, message, remedy }: Failure): void {
    this.#hasFailed = true;
    this.#write({ type: 'error', error: { code, message, remedy } });
  }

  #write(line: unknown): void {
    this.#context.streams.output.write(`${JSON.stringify(line)}\n`);
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }
}

/** Beside every delivery: for what no delivery says. */
const RECHECK_MS = 5_000;
const FORMS =
  'Send {"type":"prompt","text":"…"}, {"type":"resolve","interrupt_id":"…","decision":{…}}, {"type":"command","name":"…","args":"…"}, ' +
  '{"type":"control","name":"…"} or {"type":"cancel"}.';

function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

function inputEnded(interruptId: string): Failure {
  return {
    code: 'interrupt_open',
    message: `${interruptId} is open and the input has ended`,
    remedy: `Answer it: tidemark approve, reject or answer ${interruptId}.`,
  };
}
