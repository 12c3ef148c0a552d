import { setTimeout as sleep } from 'node:timers/promises';
import type { Fleet } from './fleet.ts';
import type { Ledger } from './ledger.ts';
import type { Random } from './random.ts';

/** A stream that says nothing for so long is left: its gateway may be stopped. */
const SILENCE_MS = 5_000;

/** A client that follows a thread for as long as the storm lasts, from gateway to gateway, by its cursor alone. */
export class Follower {
  readonly threadId: string;
  /** What came under each cursor: the very text. */
  readonly seen = new Map<number, string>();
  readonly #name: string;
  readonly #deps: { fleet: Fleet; ledger: Ledger; random: Random };
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;
  #cursor = 0;

  constructor(name: string, threadId: string, deps: { fleet: Fleet; ledger: Ledger; random: Random }) {
    this.#name = name;
    this.threadId = threadId;
    this.#deps = deps;
    this.#running = this.#follow();
  }

  get cursor(): number {
    return this.#cursor;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #follow(): Promise<void> {
    const { fleet, ledger, random } = this.#deps;
    let lostAt = performance.now();
    while (!this.#stopping.signal.aborted) {
      const url = fleet.gatewayUrl(random);
      if (url !== null) {
        const onOpen = (): void => {
          ledger.count('client connected');
          ledger.longestReconnectMs = Math.max(ledger.longestReconnectMs, performance.now() - lostAt);
        };
        const wasOpen = await this.#read(url, onOpen).catch(() => false);
        if (wasOpen) lostAt = performance.now();
      }
      await sleep(random.between(50, 400));
    }
  }

  /** One connection's life; true if it was one. */
  async #read(url: string, onOpen: () => void): Promise<boolean> {
    const { ledger, random } = this.#deps;
    const leave = new AbortController();
    const signal = AbortSignal.any([leave.signal, this.#stopping.signal]);
    // some leave by themselves, in the middle of anything
    const whim = setTimeout(() => leave.abort(), random.between(3_000, 30_000));
    let silence = setTimeout(() => leave.abort(), SILENCE_MS);
    let open = false;
    try {
      const headers = { accept: 'text/event-stream', 'last-event-id': String(this.#cursor) };
      const res = await fetch(`${url}/v1/threads/${this.threadId}/events`, { headers, signal });
      if (res.status !== 200 || res.body === null) {
        if (res.status < 500)
          ledger.fault(`${this.#name} got ${String(res.status)} for cursor ${String(this.#cursor)}`);
        await res.body?.cancel();
        return false;
      }
      open = true;
      onOpen();
      const decoder = new TextDecoder();
      let rest = '';
      for await (const chunk of res.body) {
        clearTimeout(silence);
        silence = setTimeout(() => leave.abort(), SILENCE_MS);
        const blocks = (rest + decoder.decode(chunk as Uint8Array, { stream: true })).split('\n\n');
        rest = blocks.pop() ?? '';
        for (const block of blocks) this.#take(block);
      }
      return true;
    } catch {
      return open;
    } finally {
      clearTimeout(whim);
      clearTimeout(silence);
      leave.abort();
    }
  }

  #take(block: string): void {
    const id = /^id: ?(\d+)$/m.exec(block)?.[1];
    if (id === undefined) return;
    const seq = Number(id);
    if (seq !== this.#cursor + 1)
      this.#deps.ledger.fault(`${this.#name} got ${id} after ${String(this.#cursor)} in ${this.threadId}`);
    const earlier = this.seen.get(seq);
    if (earlier !== undefined && earlier !== block) this.#deps.ledger.fault(`${this.#name} got two texts for ${id}`);
    this.seen.set(seq, block);
    this.#cursor = seq;
  }
}

/** The thread's whole log as a stream gives it to one who comes last. */
export async function wholeStream(url: string, threadId: string, head: number): Promise<Map<number, string>> {
  const seen = new Map<number, string>();
  if (head === 0) return seen;
  const leave = AbortSignal.timeout(30_000);
  const headers = { accept: 'text/event-stream' };
  const res = await fetch(`${url}/v1/threads/${threadId}/events`, { headers, signal: leave });
  if (res.body === null) throw new Error('a stream has a body');
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of res.body) {
    const blocks = (rest + decoder.decode(chunk as Uint8Array, { stream: true })).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const id = /^id: ?(\d+)$/m.exec(block)?.[1];
      if (id !== undefined) seen.set(Number(id), block);
    }
    if (seen.has(head)) break;
  }
  return seen;
}
