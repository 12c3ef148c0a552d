import type { ServerResponse } from 'node:http';
import { SSE_OPEN } from '../contract/encoders/sse.ts';

export interface WriteLimits {
  /** What may wait in memory for one subscriber. */
  readonly maxUnsentBytes: number;
  /** How long nothing of what waits may leave. */
  readonly stallMs: number;
  /** A stream is never quiet for longer. */
  readonly heartbeatMs: number;
}

type CutReason = 'slow' | 'stalled';

interface WriteStreamOptions {
  readonly limits: WriteLimits;
  /** What is said when there is nothing to say. */
  readonly heartbeat: string;
  readonly onCut: (reason: CutReason, unsentBytes: number) => void;
}

/** So much is handed over before a replay waits for the client: enough to keep the socket busy while a page is read. */
const READ_AHEAD_BYTES = 256 * 1024;

/**
 * One subscriber's response, with bounds on what it may keep in memory.
 *
 * **Contract:** nothing is queued outside the response. Over `maxUnsentBytes`, or with nothing drained for `stallMs`, the
 * connection is destroyed, and the client comes back by cursor. After the end every write is ignored.
 */
export class WriteStream {
  /** Resolves when the connection is gone or the response has ended, whoever did it. */
  readonly closed: Promise<void>;
  readonly #res: ServerResponse;
  readonly #options: WriteStreamOptions;
  #open = true;
  #ended = false;
  #waiting: (() => void) | null = null;
  #wroteAt = performance.now();
  #drainedAt = performance.now();

  constructor(res: ServerResponse, options: WriteStreamOptions) {
    this.#res = res;
    this.#options = options;
    const closed = Promise.withResolvers<void>();
    this.closed = closed.promise;
    const noteClosed = (): void => {
      this.#open = false;
      this.#wake();
      closed.resolve();
    };
    res.once('close', noteClosed);
    res.on('drain', () => this.#wake());
    res.on('error', () => {}); // 'close' follows and says all there is to say
    if (res.closed || res.destroyed) noteClosed();
  }

  /** Sends the headers of a stream, so that the client knows it is open before the first event exists. */
  openSse(): void {
    this.#res.writeHead(this.#res.statusCode, {
      'Content-Type': 'text/event-stream; charset=utf-8',
      'Cache-Control': 'no-cache, no-transform',
      'X-Accel-Buffering': 'no',
      // a stream ends when this gateway drains: the next request belongs on another connection
      Connection: 'close',
    });
    this.#res.flushHeaders();
    this.write(SSE_OPEN);
  }

  get isOpen(): boolean {
    return this.#open && !this.#ended;
  }

  get unsentBytes(): number {
    return this.#open ? this.#res.writableLength : 0;
  }

  write(bytes: Uint8Array | string): void {
    if (!this.isOpen) return;
    const now = performance.now();
    if (this.#res.writableLength === 0) this.#drainedAt = now;
    this.#wroteAt = now;
    this.#res.write(bytes, this.#noteDrained);
  }

  /** For a replay: waits until the client has taken most of what was written. False when the stream is over. */
  async drained(): Promise<boolean> {
    while (this.isOpen && this.#res.writableNeedDrain && this.#res.writableLength >= READ_AHEAD_BYTES) {
      await new Promise<void>((resolve) => {
        this.#waiting = resolve;
      });
    }
    return this.isOpen;
  }

  /** Called about once a second: cuts a subscriber that takes nothing, keeps a quiet one alive. */
  check(now: number, untilNextMs: number): void {
    if (!this.#open) return;
    const { stallMs, heartbeatMs } = this.#options.limits;
    const unsentBytes = this.#res.writableLength;
    if (unsentBytes > 0 && now - this.#drainedAt >= stallMs) this.#cut('stalled');
    else if (unsentBytes === 0 && now - this.#wroteAt + untilNextMs > heartbeatMs) this.write(this.#options.heartbeat);
  }

  /**
   * For what comes whether the client reads or not: a subscriber that has too much waiting is cut instead. What waits is
   * looked at before the write, so that an event larger than the bound still reaches who keeps up.
   */
  push(bytes: Uint8Array): void {
    if (this.#res.writableLength > this.#options.limits.maxUnsentBytes) this.#cut('slow');
    else this.write(bytes);
  }

  end(lastWords?: string): void {
    if (!this.isOpen) return;
    this.#ended = true;
    this.#wake();
    this.#res.end(lastWords);
  }

  destroy(): void {
    this.#ended = true;
    this.#wake();
    this.#res.destroy();
  }

  readonly #noteDrained = (): void => {
    this.#drainedAt = performance.now();
  };

  #cut(reason: CutReason): void {
    if (!this.#open || this.#res.destroyed) return;
    this.#options.onCut(reason, this.#res.writableLength);
    this.destroy();
  }

  #wake(): void {
    this.#waiting?.();
    this.#waiting = null;
  }
}
