/** The end of an output: as many bytes as its limit, from a whole character on. */
export class TailBuffer {
  readonly #limitBytes: number;
  #chunks: Buffer[] = [];
  #bytes = 0;
  isCut = false;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  append(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    // joined only now and then: an output comes in many small chunks
    if (this.#bytes > this.#limitBytes * 2 + 65_536) this.#cut();
  }

  get text(): string {
    this.#cut();
    return Buffer.concat(this.#chunks).toString('utf8');
  }

  #cut(): void {
    if (this.#bytes <= this.#limitBytes) return;
    const all = Buffer.concat(this.#chunks);
    let start = all.length - this.#limitBytes;
    while (start < all.length && ((all[start] ?? 0) & 0xc0) === 0x80) start++;
    this.#chunks = [all.subarray(start)];
    this.#bytes = all.length - start;
    this.isCut = true;
  }
}
