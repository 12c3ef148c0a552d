import type { Failure } from './failure.ts';
import type { Wish } from './protocol.ts';

/** What each model's server has refused to be asked for, learned from its refusals, as long as this process lives. */
export class WishList {
  readonly #wishes: readonly Wish[];
  readonly #refused = new Map<string, Set<string>>();

  constructor(wishes: readonly Wish[]) {
    this.#wishes = wishes;
  }

  granted(model: string): ReadonlySet<string> {
    const refused = this.#refused.get(model);
    return new Set(this.#wishes.map(({ name }) => name).filter((name) => refused?.has(name) !== true));
  }

  /** Whether the failure refuses wishes, which are then given up; false where asking again would say the same. */
  giveUp(model: string, failure: Failure): boolean {
    if (failure.code !== 'provider_rejected') return false;
    const granted = this.granted(model);
    const named = this.#wishes.filter(({ name, refusedAs }) => granted.has(name) && refusedAs.test(failure.message));
    const refused = this.#refused.get(model) ?? new Set();
    for (const { name } of named) refused.add(name);
    this.#refused.set(model, refused);
    return named.length > 0;
  }
}
