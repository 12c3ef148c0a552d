import { faultsOfEvent } from './bus-event.ts';
import { EventBus, firstLineOf, type EventBusOptions } from './event-bus.ts';
import type { Extension, ExtensionApi } from './extension.ts';
import { ExtensionRegistry } from './registry.ts';

export interface NamedExtension {
  readonly name: string;
  readonly firstParty: boolean;
  readonly options?: Readonly<Record<string, unknown>>;
  readonly extension: Extension;
}

/** How loading an extension went. */
export interface LoadedExtension {
  readonly name: string;
  readonly firstParty: boolean;
  readonly error: string | null;
}

/**
 * The extensions of one program: what they registered, and the bus between them.
 *
 * **Contract:** an extension that fails to load leaves nothing behind, is said as `extension-error` and stops no other. To
 * load one of a name that is loaded replaces it: the old one is taken out first.
 */
export class ExtensionScope {
  readonly registry: ExtensionRegistry;
  readonly bus: EventBus;
  readonly #loaded = new Map<string, LoadedExtension>();

  constructor(options: EventBusOptions & { readonly reservedTools?: ReadonlySet<string> } = {}) {
    this.registry = new ExtensionRegistry(options.reservedTools);
    this.bus = new EventBus(options);
  }

  async load({ name, firstParty, options = {}, extension }: NamedExtension): Promise<LoadedExtension> {
    this.unload(name);
    try {
      await extension(this.#apiOf(name, options));
      this.#loaded.set(name, { name, firstParty, error: null });
      this.bus.emit({ type: 'extension-loaded', name, firstParty });
    } catch (thrown) {
      this.unload(name);
      this.failed(name, thrown, firstParty);
    }
    return this.#loaded.get(name) as LoadedExtension;
  }

  /** Notes an extension that could not be loaded at all. */
  failed(name: string, thrown: unknown, firstParty = false): void {
    const error = firstLineOf(thrown);
    this.#loaded.set(name, { name, firstParty, error });
    this.bus.emit({ type: 'extension-error', error, owner: name });
  }

  unload(name: string): void {
    this.registry.unregisterOwner(name);
    this.bus.endOwner(name);
    this.#loaded.delete(name);
  }

  /** In the order in which they were loaded. */
  loaded(): readonly LoadedExtension[] {
    return [...this.#loaded.values()];
  }

  #apiOf(owner: string, options: Readonly<Record<string, unknown>>): ExtensionApi {
    return {
      owner,
      options,
      register: (kind, record) => this.registry.register(kind, record, owner),
      on: (type, handler) => this.bus.on(type, handler, owner),
      emit: (event) => {
        const faults = faultsOfEvent(event);
        if (faults.length > 0) throw new Error(`this cannot be an event ${event.type}: ${faults.join('; ')}`);
        this.bus.emit(event, owner);
      },
    };
  }
}
