import type { ServerResponse } from 'node:http';
import { DRAIN_FRAME, HEARTBEAT_FRAME } from '../contract/encoders/canonical.ts';
import { SSE_PING } from '../contract/encoders/sse.ts';
import type { Logger } from '../infra/log.ts';
import { WriteStream, type WriteLimits } from './write-stream.ts';

/** What a quiet stream is kept alive with: a comment, or an event that a browser's script can see. */
export type Heartbeat = 'comment' | 'event';

/** Every stream that this gateway has open: looked at once a second, counted, let go when the gateway drains. */
export class OpenStreams {
  /** What was counted since the start. */
  readonly closed = { slow: 0, stalled: 0 };
  readonly #limits: WriteLimits;
  readonly #log: Logger;
  readonly #streams = new Set<WriteStream>();
  #timer: NodeJS.Timeout | null = null;

  constructor(limits: WriteLimits, log: Logger) {
    this.#limits = limits;
    this.#log = log;
  }

  get size(): number {
    return this.#streams.size;
  }

  get unsentBytes(): number {
    let bytes = 0;
    for (const stream of this.#streams) bytes += stream.unsentBytes;
    return bytes;
  }

  start(): void {
    const everyMs = Math.min(1_000, this.#limits.heartbeatMs / 4, this.#limits.stallMs / 4);
    this.#timer = setInterval(() => {
      const now = performance.now();
      for (const stream of this.#streams) stream.check(now, everyMs);
    }, everyMs);
  }

  /** Takes charge of a response until it is closed. */
  add(res: ServerResponse, threadId: string, heartbeat: Heartbeat): WriteStream {
    const stream = new WriteStream(res, {
      limits: this.#limits,
      heartbeat: heartbeat === 'event' ? HEARTBEAT_FRAME : SSE_PING,
      onCut: (reason, unsentBytes) => {
        this.closed[reason] += 1;
        this.#log.warn({ threadId, reason, unsentBytes }, 'subscriber closed; it resumes by cursor');
      },
    });
    this.#streams.add(stream);
    void stream.closed.then(() => this.#streams.delete(stream));
    return stream;
  }

  /** Ends each stream at its own moment of the next `ms`; one that has not taken its last bytes `graceMs` later is cut. */
  async letGo(ms: number, graceMs: number): Promise<void> {
    const streams = [...this.#streams];
    await Promise.all(
      streams.map(async (stream, index) => {
        const endsIn = (index * ms) / streams.length;
        const ending = setTimeout(() => stream.end(DRAIN_FRAME), endsIn);
        const cutting = setTimeout(() => stream.destroy(), endsIn + graceMs);
        await stream.closed;
        clearTimeout(ending);
        clearTimeout(cutting);
      }),
    );
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    for (const stream of this.#streams) stream.destroy();
  }
}
