import type { DriverContext } from './driver.ts';

/** Whom an engine's turn waits for: a tool while one is open, else the model. The watchdog is told when that changes. */
export class AwaitedParty {
  readonly #tell: DriverContext['expect'];
  #party: 'model' | 'tool' = 'model';

  constructor(tell: DriverContext['expect']) {
    this.#tell = tell;
  }

  update({ isOneOpen }: { readonly isOneOpen: boolean }): void {
    const party = isOneOpen ? 'tool' : 'model';
    if (party === this.#party) return;
    this.#party = party;
    this.#tell(party);
  }
}
