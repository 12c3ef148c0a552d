import type { ToolCall } from '../../../../contract/agent-messages.ts';

/** The ids of tool calls on one request's wire: the provider's own where the API would take them, no two calls alike. */
export class WireIds {
  readonly #used = new Set<string>();
  readonly #allowed: RegExp;

  constructor(allowed: RegExp) {
    this.#allowed = allowed;
  }

  take(call: ToolCall): string {
    const native = call.nativeId ?? '';
    const id = this.#allowed.test(native) && !this.#used.has(native) ? native : this.#free();
    this.#used.add(id);
    return id;
  }

  #free(): string {
    let n = this.#used.size;
    while (this.#used.has(`call_${String(n)}`)) n++;
    return `call_${String(n)}`;
  }
}
