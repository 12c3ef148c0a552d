import { Artifacts } from './artifacts.ts';
import { Interrupts } from './interrupts.ts';
import { Engine, Extension, pageOf } from './resources.ts';
import { Runs } from './runs.ts';
import { Threads } from './threads.ts';
import { Transport, type Abortable, type TransportOptions } from './transport.ts';

/**
 * A client of one gateway, for Node and for browsers.
 *
 * **Contract:** every failure is a `TidemarkApiError` with a code and a remedy; requests that may be repeated safely are
 * repeated when no whole answer came; a run is started once.
 */
export class TidemarkClient {
  readonly threads: Threads;
  readonly runs: Runs;
  readonly interrupts: Interrupts;
  readonly artifacts: Artifacts;
  readonly #transport: Transport;

  constructor(options: TransportOptions) {
    const transport = new Transport(options);
    this.#transport = transport;
    this.threads = new Threads(transport);
    this.runs = new Runs(transport);
    this.interrupts = new Interrupts(transport);
    this.artifacts = new Artifacts(transport);
  }

  /** The engines that a run may name. */
  async engines({ signal }: Abortable = {}): Promise<Engine[]> {
    return (await this.#transport.json(pageOf(Engine), { method: 'GET', path: '/v1/engines', signal })).data;
  }

  /** The extensions of the built-in engine, and what they have registered. */
  async extensions({ signal }: Abortable = {}): Promise<Extension[]> {
    return (await this.#transport.json(pageOf(Extension), { method: 'GET', path: '/v1/extensions', signal })).data;
  }
}
