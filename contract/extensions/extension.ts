import type { BusEvent, EmittedEvent } from './bus-event.ts';
import type { Handler } from './event-bus.ts';
import type { RegisterKind, RegisterRecords } from './register-kinds.ts';
import type { Registration } from './registry.ts';

/** What an extension is given: everything that it does here is under its own name, and goes when it goes. */
export interface ExtensionApi {
  readonly owner: string;
  /** From `tidemark.config.ts`. */
  readonly options: Readonly<Record<string, unknown>>;
  /** @throws Error that names the fields at fault. */
  register<Kind extends RegisterKind>(kind: Kind, record: RegisterRecords[Kind]): Registration<Kind>;
  /** Subscribes to events of the bus by their type, or to all by `*`; the returned function ends it. */
  on<Name extends string>(type: Name, handler: Handler<Name>): () => void;
  /**
   * Emits an event. One of the contract is kept in the lane of the run in which it was emitted, if there is one.
   *
   * @throws Error for an event of the contract with a payload that the contract does not have.
   */
  emit(event: BusEvent | EmittedEvent): void;
}

/** The default export of an extension's module. */
export type Extension = (api: ExtensionApi) => void | Promise<void>;

/** Types an extension for its editor: `export default defineExtension((api) => { … })`. */
export function defineExtension(extension: Extension): Extension {
  return extension;
}
