import { wholeCharacters } from './utf8-part.ts';

/** What is kept of an output. */
export interface KeptBytes {
  readonly head: Buffer;
  /** Between the two parts. */
  readonly leftOutBytes: number;
  readonly tail: Buffer;
}

/** The beginning and the end of an output of any length, each of at most half the limit; nothing is moved twice. */
export class OutputBuffer {
  readonly #half: number;
  #head: Buffer;
  /** Written round and round once the beginning is full. */
  #ring: Buffer | null = null;
  #bytes = 0;

  constructor(limitBytes: number) {
    this.#half = Math.ceil(limitBytes / 2);
    this.#head = Buffer.alloc(Math.min(this.#half, 4_096));
  }

  append(chunk: Buffer): void {
    const forHead = chunk.subarray(0, Math.max(this.#half - this.#bytes, 0));
    if (forHead.length > 0) this.#appendToHead(forHead);
    this.#bytes += forHead.length;
    const rest = chunk.subarray(forHead.length);
    if (rest.length > 0) this.#appendToRing(rest);
    this.#bytes += rest.length;
  }

  /** The output is longer than what is kept. */
  get isCut(): boolean {
    return this.#bytes > this.#half * 2;
  }

  /** The parts, whole characters at the cut. */
  get kept(): KeptBytes {
    const head = this.#head.subarray(0, Math.min(this.#bytes, this.#half));
    const ring = this.#ring;
    const inRing = this.#bytes - head.length;
    if (ring === null || !this.isCut) {
      const whole = Buffer.concat([head, ring?.subarray(0, inRing) ?? Buffer.alloc(0)]);
      return { head: whole, leftOutBytes: 0, tail: Buffer.alloc(0) };
    }
    const oldest = inRing % this.#half;
    const tail = Buffer.concat([ring.subarray(oldest), ring.subarray(0, oldest)]);
    const headEnd = wholeCharacters(head, false, true).end;
    const tailStart = wholeCharacters(tail, true, false).start;
    return {
      head: head.subarray(0, headEnd),
      leftOutBytes: this.#bytes - headEnd - (tail.length - tailStart),
      tail: tail.subarray(tailStart),
    };
  }

  #appendToHead(chunk: Buffer): void {
    const needed = this.#bytes + chunk.length;
    if (needed > this.#head.length) {
      const larger = Buffer.alloc(Math.min(Math.max(needed, this.#head.length * 2), this.#half));
      this.#head.copy(larger, 0, 0, this.#bytes);
      this.#head = larger;
    }
    chunk.copy(this.#head, this.#bytes);
  }

  #appendToRing(chunk: Buffer): void {
    const ring = (this.#ring ??= Buffer.alloc(this.#half));
    for (let start = 0; start < chunk.length;) {
      const at = (this.#bytes + start - this.#half) % this.#half;
      const copied = chunk.copy(ring, at, start);
      start += copied;
    }
  }
}
