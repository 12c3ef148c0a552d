import { isWholeObject } from './tool-arguments.ts';

/** A piece of a tool call as a stream gives it: any of these may be missing on the wire. */
export interface ToolCallDelta {
  readonly index: number | null;
  readonly id: string;
  readonly name: string;
  readonly args: string;
}

/** One tool call while it is being streamed. */
export interface ToolCallSlot {
  readonly contentIndex: number;
  nativeId: string;
  name: string;
  json: string;
}

/**
 * Says which tool call a delta belongs to. Parallel calls may be interleaved by index; some servers give every call index
 * 0, leave out the index or the id, make a new id for each delta, or repeat the name in each: none of them may mix two
 * calls up or tear one apart.
 */
export class ToolCallSlots {
  readonly all: ToolCallSlot[] = [];
  readonly #byIndex = new Map<number, ToolCallSlot>();

  /** The call that the delta continues, or null when it begins another. */
  find(delta: ToolCallDelta): ToolCallSlot | null {
    const sameId = delta.id === '' ? undefined : this.all.find((slot) => slot.nativeId === delta.id);
    if (delta.index === null) {
      if (delta.id !== '') return sameId ?? null;
      const last = this.all.at(-1);
      return last === undefined || beginsAnother(last, delta) ? null : last;
    }
    const held = this.#byIndex.get(delta.index);
    if (held === undefined) return null;
    if (sameId !== undefined && held.nativeId !== delta.id) {
      this.#byIndex.set(delta.index, sameId);
      return sameId;
    }
    return beginsAnother(held, delta) ? null : held;
  }

  open(delta: ToolCallDelta, contentIndex: number): ToolCallSlot {
    const slot: ToolCallSlot = { contentIndex, nativeId: '', name: '', json: '' };
    this.all.push(slot);
    if (delta.index !== null) this.#byIndex.set(delta.index, slot);
    return slot;
  }
}

/** Adds what the delta tells; the first id stays, a name may come in pieces or again and again. */
export function extend(slot: ToolCallSlot, delta: ToolCallDelta): void {
  if (slot.nativeId === '') slot.nativeId = delta.id;
  if (slot.name === '') slot.name = delta.name;
  else if (delta.name !== slot.name && slot.json === '') slot.name += delta.name;
  slot.json += delta.args;
}

function beginsAnother(held: ToolCallSlot, delta: ToolCallDelta): boolean {
  const isOtherId = delta.id !== '' && held.nativeId !== '' && delta.id !== held.nativeId;
  if (delta.name === '' || held.name === '') return isOtherId && delta.index === null;
  if (isOtherId) return true;
  if (isWholeObject(held.json)) return delta.args !== '' || delta.name !== held.name;
  return held.json === '' && delta.index === null && delta.name !== held.name;
}
