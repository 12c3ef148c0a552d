import { connect, type Socket } from 'node:net';
import { nowMs } from './protocol.ts';

const ID_LINE = /^id: (\d+)$/gm;
/** Holds at least one whole event. */
const LAST_BYTES = 2_048;
/** All sockets are read into it, one at a time: no stream, no allocation for each chunk. */
const SHARED_BUFFER = Buffer.alloc(256 * 1024);

/** One client of a stream, on a bare socket: a thousand of them must cost less than what they measure. */
export class Subscriber {
  readonly #socket: Socket;
  readonly #isSampled: boolean;
  /** Cursor and time, alternating. */
  seen: number[] = [];
  bytes = 0;
  gaps = 0;
  isCut = false;
  #cursor = 0;
  #rest = '';
  readonly #last = Buffer.alloc(LAST_BYTES);
  #hasBegun = false;
  #isClosing = false;

  private constructor(socket: Socket, isSampled: boolean) {
    this.#socket = socket;
    this.#isSampled = isSampled;
  }

  /** Resolves when the stream has begun. */
  static async open(url: string, isSampled: boolean): Promise<Subscriber> {
    const { hostname, port, pathname, search } = new URL(url);
    const begun = Promise.withResolvers<void>();
    const take = (size: number): boolean => {
      const chunk = SHARED_BUFFER.subarray(0, size);
      subscriber.#take(chunk);
      if (!subscriber.#hasBegun && chunk.includes(': open')) {
        subscriber.#hasBegun = true;
        begun.resolve();
      }
      return true;
    };
    const socket = connect({ host: hostname, port: Number(port), onread: { buffer: SHARED_BUFFER, callback: take } });
    const subscriber = new Subscriber(socket, isSampled);
    socket.on('error', (error) => begun.reject(error));
    socket.on('close', () => {
      subscriber.isCut = !subscriber.#isClosing;
    });
    socket.write(`GET ${pathname}${search} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAccept: text/event-stream\r\n\r\n`);
    await begun.promise;
    return subscriber;
  }

  begin(): void {
    this.seen = [];
    this.bytes = 0;
    this.gaps = 0;
  }

  /** The newest delivery that has come. */
  get cursor(): number {
    if (this.#isSampled) return this.#cursor;
    const ids = this.#last.toString('latin1').match(ID_LINE);
    return Number(ids?.at(-1)?.slice('id: '.length) ?? 0);
  }

  close(): void {
    this.#isClosing = true;
    this.#socket.destroy();
  }

  #take(chunk: Buffer): void {
    this.bytes += chunk.length;
    if (this.#isSampled) this.#note(chunk);
    else this.#keepLast(chunk);
  }

  /** The last bytes, oldest first: enough to find the newest cursor in. */
  #keepLast(chunk: Buffer): void {
    const kept = Math.max(0, LAST_BYTES - chunk.length);
    this.#last.copyWithin(0, LAST_BYTES - kept);
    chunk.copy(this.#last, kept, Math.max(0, chunk.length - LAST_BYTES));
  }

  #note(chunk: Buffer): void {
    const at = nowMs();
    const text = this.#rest + chunk.toString('latin1');
    const end = text.lastIndexOf('\n') + 1;
    this.#rest = text.slice(end);
    for (const [, id] of text.slice(0, end).matchAll(ID_LINE)) {
      const cursor = Number(id);
      if (this.#cursor > 0 && cursor !== this.#cursor + 1) this.gaps += 1;
      this.#cursor = cursor;
      this.seen.push(cursor, at);
    }
  }
}
