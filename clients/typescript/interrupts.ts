import type { Decision } from '../../contract/decision.ts';
import { everyItem } from './pages.ts';
import { Interrupt } from './resources.ts';
import { pathOf, type Abortable, type Transport } from './transport.ts';

/** What waits for a person, and the person's answers. */
export class Interrupts {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** What is open, of all threads or of one. */
  list({ threadId, signal }: Abortable & { readonly threadId?: string | undefined } = {}): AsyncGenerator<
    Interrupt,
    void,
    undefined
  > {
    return everyItem(this.#transport, Interrupt, { path: '/v1/interrupts', query: { thread_id: threadId }, signal });
  }

  async get(interruptId: string, { signal }: Abortable = {}): Promise<Interrupt> {
    return await this.#transport.json(Interrupt, {
      method: 'GET',
      path: pathOf`/v1/interrupts/${interruptId}`,
      signal,
    });
  }

  /** Answers an interrupt. The same answer again changes nothing; another one is `interrupt_already_resolved`. */
  async resolve(interruptId: string, decision: Decision, { signal }: Abortable = {}): Promise<Interrupt> {
    const path = pathOf`/v1/interrupts/${interruptId}/resolve`;
    return await this.#transport.json(Interrupt, { method: 'POST', path, body: decision, signal });
  }
}
