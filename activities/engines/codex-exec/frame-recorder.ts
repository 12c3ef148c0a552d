import type { DriverContext } from '../driver.ts';
import { fitted, piecesOf, TEXT_LIMIT_CHARS } from '../wire/frame-fit.ts';
import type { WireFrame } from '../wire/wire-frame.ts';
import { ItemEvent } from './exec-schema.ts';
import { execFrame, invocationFrame, type ExecEvent, type ExecInvocation } from './frames.ts';
import { TEXTS } from './items.ts';
import type { KeptItems } from './kept-items.ts';

/**
 * Stores how one process was started, and what it says.
 *
 * **Contract:** a call resolves when its frames are taken. A long text is told in pieces, `item.text` frames before the item's own,
 * which then says `inPieces`; what else is long is shortened, and what was kept elsewhere stands in `kept`.
 */
export class ExecFrameRecorder {
  readonly #emit: DriverContext['emit'];
  readonly #kept: KeptItems;

  constructor(emit: DriverContext['emit'], kept: KeptItems) {
    this.#emit = emit;
    this.#kept = kept;
  }

  async recordInvocation(invocation: ExecInvocation): Promise<void> {
    await this.#emit(fitted(invocationFrame(invocation)));
  }

  async record(event: ExecEvent): Promise<void> {
    const kept = await this.#kept.take(event);
    const frame = execFrame(event);
    const pieces = piecesOfText(event);
    for (const piece of pieces) await this.#emit(piece);
    const last = { ...frame, ...(pieces.length > 0 ? { inPieces: true } : {}), ...(kept === null ? {} : { kept }) };
    await this.#emit(fitted(last));
  }

  async recordMalformed(text: string): Promise<void> {
    await this.#emit({ type: 'malformed', dir: 'recv', text });
  }
}

/** A text that one frame cannot hold, as frames; none for what it can. */
function piecesOfText(event: ExecEvent): WireFrame[] {
  const item = event['type'] === 'item.completed' ? ItemEvent.safeParse(event).data?.item : undefined;
  if (item === undefined || !TEXTS.has(item.type) || item.text.length <= TEXT_LIMIT_CHARS) return [];
  const { id, type } = item;
  return piecesOf(item.text).map((piece) => ({
    type: 'item.text',
    dir: 'recv',
    params: { item: { id, type }, piece },
  }));
}
