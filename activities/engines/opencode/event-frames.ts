import { piecesOf } from '../wire/frame-fit.ts';
import type { WireFrame } from '../wire/wire-frame.ts';
import { PartDelta, PartUpdate, type Part, type ServerEvent } from './opencode-schema.ts';
import { newOutput } from './tool-output.ts';

/** Parts that were seen to be at work, and to end; what is older is not told again. */
const REMEMBERED = 500;
const TEXTS: ReadonlySet<string> = new Set(['text', 'reasoning']);
const ENDED: ReadonlySet<string> = new Set(['completed', 'error']);

interface HeardText {
  readonly chars: number;
  /** Events were missed since: its pieces have a gap, its end has the whole text. */
  readonly isBroken: boolean;
}

/**
 * The events of one server as the frames that a lane keeps.
 *
 * **Contract:** what the server says as a whole again and again is said in pieces, in the server's own form for them
 * (`message.part.delta`): of a text what no piece had said, of a command's output what is new. Long pieces are several frames. No
 * text is lost where events were missed, and none is there twice.
 */
export class EventFrames {
  readonly #texts = new Map<string, HeardText>();
  readonly #outputs = new Map<string, string>();
  readonly #ended = new Set<string>();

  framesOf({ id, type, properties }: ServerEvent): WireFrame[] {
    const frame: WireFrame = { type, dir: 'recv', ...(id == null ? {} : { id }), params: properties };
    if (type === 'message.part.delta') return this.#ofDelta(frame);
    const part = type === 'message.part.updated' ? PartUpdate.safeParse(properties).data?.part : undefined;
    if (part === undefined) return [frame];
    if (TEXTS.has(part.type)) return this.#ofText(frame, part);
    if (part.type === 'tool') return this.#ofTool(frame, part);
    if (part.type === 'step-finish') remember(this.#ended, part.id);
    return [frame];
  }

  /** Events were missed: of the texts that are being said, the pieces from here on are empty until their ends. */
  breakTexts(): void {
    for (const [id, heard] of this.#texts) this.#texts.set(id, { ...heard, isBroken: true });
  }

  /** Whether the end of a part was heard. */
  hasEnded(partId: string): boolean {
    return this.#ended.has(partId);
  }

  #ofDelta(frame: WireFrame): WireFrame[] {
    const delta = PartDelta.safeParse(frame.params).data;
    if (delta === undefined || delta.field !== 'text') return [frame];
    const heard = this.#texts.get(delta.partID) ?? { chars: 0, isBroken: false };
    // that something is said is told all the same: the engine is not silent
    if (heard.isBroken || this.hasEnded(delta.partID)) return [{ ...frame, params: { ...delta, delta: '' } }];
    this.#texts.set(delta.partID, { ...heard, chars: heard.chars + delta.delta.length });
    return piecesOf(delta.delta).map((piece) => ({ ...frame, params: { ...delta, delta: piece } }));
  }

  #ofText(frame: WireFrame, part: Part): WireFrame[] {
    const heard = this.#texts.get(part.id);
    if (part.time?.end == null) {
      this.#texts.set(part.id, heard ?? { chars: 0, isBroken: false });
      return [frame];
    }
    const isSaid = this.hasEnded(part.id) || (heard !== undefined && heard.chars > 0 && !heard.isBroken);
    const rest = isSaid ? '' : part.text.slice(heard?.chars ?? 0);
    this.#texts.delete(part.id);
    remember(this.#ended, part.id);
    return [...deltasOf(part, 'text', rest), frame];
  }

  #ofTool(frame: WireFrame, part: Part): WireFrame[] {
    const { status, metadata } = part.state;
    const output = metadata?.output;
    const deltas = output == null || this.hasEnded(part.id) ? [] : this.#deltasOfOutput(part, output);
    if (ENDED.has(status)) {
      this.#outputs.delete(part.id);
      remember(this.#ended, part.id);
    }
    return [...deltas, output == null ? frame : withoutOutput(frame)];
  }

  #deltasOfOutput(part: Part, output: string): WireFrame[] {
    const before = this.#outputs.get(part.id) ?? '';
    this.#outputs.set(part.id, output);
    return deltasOf(part, 'output', newOutput(before, output));
  }
}

function deltasOf({ sessionID, messageID, id: partID }: Part, field: string, text: string): WireFrame[] {
  if (text === '') return [];
  return piecesOf(text).map((delta) => {
    return { type: 'message.part.delta', dir: 'recv', params: { sessionID, messageID, partID, field, delta } };
  });
}

/** The output stands in the pieces before it. */
function withoutOutput(frame: WireFrame): WireFrame {
  const params = frame.params as { part: { state: { metadata: Readonly<Record<string, unknown>> } } };
  const { part } = params;
  const { output: _, ...metadata } = part.state.metadata;
  return { ...frame, params: { ...params, part: { ...part, state: { ...part.state, metadata } } } };
}

function remember(ids: Set<string>, id: string): void {
  ids.add(id);
  const [oldest] = ids;
  if (ids.size > REMEMBERED && oldest !== undefined) ids.delete(oldest);
}
