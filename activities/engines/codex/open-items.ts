import { ItemMessage, type Item } from './codex-schema.ts';
import { toolNameOf } from './tool-items.ts';

const REMEMBERED = 200;

/** The tools at work on one connection, of all of its threads; of the last ones, what each is to do. */
export class OpenItems {
  readonly #items = new Map<string, Item>();

  /** Takes a notification. */
  take(method: string, params: unknown): void {
    if (method !== 'item/started' && method !== 'item/completed') return;
    const item = ItemMessage.safeParse(params).data?.item;
    if (item === undefined || toolNameOf(item) === null) return;
    this.#items.delete(item.id);
    if (method === 'item/completed') return;
    this.#items.set(item.id, item);
    const [oldest] = this.#items.keys();
    if (this.#items.size > REMEMBERED && oldest !== undefined) this.#items.delete(oldest);
  }

  itemOf(itemId: string): Item | null {
    return this.#items.get(itemId) ?? null;
  }

  get isOneOpen(): boolean {
    return this.#items.size > 0;
  }
}
