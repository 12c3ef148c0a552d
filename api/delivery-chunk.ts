import { encodeDelivery } from '../contract/encoders/canonical.ts';
import { sseCursor } from '../contract/encoders/sse.ts';
import type { DeliveryRow } from '../infra/postgres/delivery.ts';
import { matches, type DeliveryFilter } from './delivery-filter.ts';

/** What one subscriber is sent of a chunk, and how many deliveries that is. */
export interface Selection {
  readonly bytes: Buffer;
  readonly count: number;
}

type RowFacts = Pick<DeliveryRow, 'delivery_seq' | 'record' | 'kind' | 'run_id'>;

/**
 * Consecutive deliveries of a thread, encoded once for every subscriber.
 *
 * **Contract:** what is selected ends with the cursor at `lastSeq`: a last row that a filter hides is an id without data.
 */
export class DeliveryChunk {
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly bytes: Buffer;
  readonly #rows: readonly RowFacts[];
  /** Where each row's frame ends in `bytes`; found when first asked for. */
  #ends: readonly number[] | null = null;
  /** Kept for the subscribers that filter alike. */
  readonly #selected = new Map<string, Selection>();

  constructor(threadId: string, rows: readonly DeliveryRow[]) {
    const [first] = rows;
    const last = rows.at(-1);
    if (first === undefined || last === undefined) throw new Error('a chunk holds at least one delivery');
    this.firstSeq = first.delivery_seq;
    this.lastSeq = last.delivery_seq;
    this.bytes = Buffer.from(rows.map((row) => encodeDelivery(threadId, row)).join(''));
    this.#rows = rows.map(({ delivery_seq, record, kind, run_id }) => ({ delivery_seq, record, kind, run_id }));
  }

  /** The rows after a cursor that pass the filter. */
  select(filter: DeliveryFilter | null, after: number): Selection {
    const skip = after < this.firstSeq ? 0 : this.#rows.findIndex((row) => row.delivery_seq > after);
    if (filter === null) {
      const start = skip === 0 ? 0 : this.#frameEnds()[skip - 1];
      return { bytes: this.bytes.subarray(start), count: this.#rows.length - skip };
    }
    const known = skip === 0 ? this.#selected.get(filter.key) : undefined;
    if (known !== undefined) return known;
    const selection = this.#filtered(filter, skip);
    if (skip === 0) this.#selected.set(filter.key, selection);
    return selection;
  }

  #filtered(filter: DeliveryFilter, skip: number): Selection {
    const ends = this.#frameEnds();
    const shown = this.#rows.flatMap((row, index) => (index >= skip && matches(filter, row) ? [index] : []));
    const parts = shown.map((index) => this.bytes.subarray(ends[index - 1] ?? 0, ends[index]));
    if (shown.at(-1) !== this.#rows.length - 1) parts.push(Buffer.from(sseCursor(this.lastSeq)));
    return { bytes: Buffer.concat(parts), count: shown.length };
  }

  #frameEnds(): readonly number[] {
    this.#ends ??= frameEnds(this.bytes);
    return this.#ends;
  }
}

const FRAME_END = Buffer.from('\n\n');

/** An encoded frame holds no empty line, so each `\n\n` is the end of one. */
function frameEnds(bytes: Buffer): number[] {
  const ends: number[] = [];
  for (let at = bytes.indexOf(FRAME_END); at !== -1; at = bytes.indexOf(FRAME_END, at + FRAME_END.length)) {
    ends.push(at + FRAME_END.length);
  }
  return ends;
}

/** Ready bytes from the frame after `seq` on; null when the bytes do not hold that frame. */
export function bytesAfter(bytes: Buffer, seq: number): Buffer | null {
  const line = `id: ${String(seq)}\n`;
  const start = bytes.subarray(0, line.length).equals(Buffer.from(line)) ? 0 : bytes.indexOf(`\n\n${line}`);
  if (start === -1) return null;
  const end = bytes.indexOf(FRAME_END, start + 1);
  return end === -1 ? null : bytes.subarray(end + FRAME_END.length);
}
