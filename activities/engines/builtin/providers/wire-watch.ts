/** More than any answer needs; what goes on after it is a fault. */
const ANSWER_LIMIT_BYTES = 64 * 1024 * 1024;
/** How long to wait for the usage and the end of a stream after the model has said why it stopped. */
const AFTER_FINISH_MS = 5_000;
const DONE_LINE = /[\r\n]data: ?\[DONE\]/;

/**
 * Watches the bytes of one provider call from below the SDK: a keep-alive comment counts as life, a chunk that the SDK has
 * not finished with does not.
 *
 * **Contract:** `signal` aborts when nothing came for `stallMs` (`fault` is then `stalled`) or the answer is over 64 MiB
 * (`too-long`). While `pause`d, time stands still: a slow reader is not a silent provider. Call `stop` at the end.
 */
export class WireWatch {
  readonly #abort = new AbortController();
  #limitMs: number;
  #timer: NodeJS.Timeout | undefined;
  #bytes = 0;
  #tail = '\n';
  fault: 'stalled' | 'too-long' | null = null;

  constructor(stallMs: number) {
    this.#limitMs = stallMs;
    this.resume();
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Whether the stream's own end mark, `data: [DONE]`, has passed. */
  get sawDone(): boolean {
    return DONE_LINE.test(this.#tail);
  }

  readonly fetch: typeof globalThis.fetch = async (input, init) => {
    const response = await globalThis.fetch(input, init);
    this.#timer?.refresh();
    if (response.body === null) return response;
    const watched = response.body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform: (chunk, controller) => {
          this.#saw(chunk);
          controller.enqueue(chunk);
        },
      }),
    );
    return new Response(watched, response);
  };

  /** The model has said why it stopped: what may still come is short. */
  finishSoon(): void {
    this.#limitMs = Math.min(this.#limitMs, AFTER_FINISH_MS);
    this.resume();
  }

  pause(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  resume(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#end('stalled'), this.#limitMs);
  }

  stop(): void {
    this.pause();
    this.#abort.abort();
  }

  #saw(chunk: Uint8Array): void {
    this.#timer?.refresh();
    this.#bytes += chunk.byteLength;
    const recent =
      this.#tail + Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).subarray(-64).toString('latin1');
    this.#tail = recent.slice(-64);
    if (this.#bytes > ANSWER_LIMIT_BYTES) this.#end('too-long');
  }

  #end(fault: 'stalled' | 'too-long'): void {
    this.fault ??= fault;
    this.#abort.abort();
  }
}
