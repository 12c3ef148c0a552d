import { setTimeout as sleep } from 'node:timers/promises';
import { Rest, type Answer } from '../../fixtures/rest.ts';
import type { Fleet } from './fleet.ts';
import type { Ledger } from './ledger.ts';
import type { Random } from './random.ts';

const ANSWER_WITHIN_MS = 6_000;

/** A caller that does what the errors tell it: asks again, at whichever gateway, until it has an answer that counts. */
export class PatientClient {
  readonly #fleet: Fleet;
  readonly #ledger: Ledger;
  readonly #random: Random;

  constructor(fleet: Fleet, ledger: Ledger, random: Random) {
    this.#fleet = fleet;
    this.#ledger = ledger;
    this.#random = random;
  }

  async call<T>(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer<T>> {
    const giveUpAt = performance.now() + 120_000;
    for (;;) {
      const answer = await this.#once<T>(method, path, body, headers);
      if (answer !== null) return answer;
      if (performance.now() > giveUpAt) throw new Error(`${method} ${path}: no gateway answered in two minutes`);
      await sleep(this.#random.between(100, 600));
    }
  }

  async #once<T>(method: string, path: string, body: unknown, headers = {}): Promise<Answer<T> | null> {
    const url = this.#fleet.gatewayUrl(this.#random);
    if (url === null) return null;
    const late = new AbortController();
    try {
      const sent = new Rest(url).send<T>(method, path, body, headers);
      sent.catch(() => undefined); // one that nobody waits for any more
      const answer = await Promise.race([sent, sleep(ANSWER_WITHIN_MS, null, { signal: late.signal })]);
      if (answer === null) return this.#lost(method, 'late');
      if (answer.status < 500) return answer;
      const { code } = answer.body as { code?: string };
      return this.#lost(method, `${String(answer.status)} ${code ?? ''}`);
    } catch {
      return this.#lost(method, 'no connection');
    } finally {
      late.abort();
    }
  }

  #lost(method: string, why: string): null {
    this.#ledger.count(`${method} asked again: ${why}`);
    return null;
  }
}
