import { REGISTER_SCHEMAS, type RegisterKind, type RegisterRecords } from './register-kinds.ts';

/** What `register` gives back: the record's place, and the way to take exactly this record out again. */
export interface Registration<Kind extends RegisterKind = RegisterKind> {
  readonly kind: Kind;
  /** A hook may have none. */
  readonly name: string | null;
  readonly owner: string;
  readonly unregister: () => void;
}

export interface Registered<Kind extends RegisterKind> {
  readonly owner: string;
  readonly record: RegisterRecords[Kind];
}

/** Of these the newest record of a name is the one that counts; of the others, all do. */
const ONE_OF_A_NAME: ReadonlySet<RegisterKind> = new Set(['auth-backend', 'command', 'provider', 'session-backend']);

/**
 * The records that extensions have registered, by kind.
 *
 * **Contract:** a record is checked before it is taken, and a fault names its field. Where one of a name counts, the last
 * writer wins, and the one before counts again when that one goes. A tool's name is unique: a second record of it is refused,
 * since a model could not tell them apart.
 */
export class ExtensionRegistry {
  readonly #records = new Map<RegisterKind, Registered<RegisterKind>[]>();
  readonly #reservedTools: ReadonlySet<string>;

  /** `reservedTools`: names that are the program's own. */
  constructor(reservedTools: ReadonlySet<string> = new Set()) {
    this.#reservedTools = reservedTools;
  }

  /** @throws Error that names every field which is missing or of the wrong type: the record is its author's mistake. */
  register<Kind extends RegisterKind>(kind: Kind, record: RegisterRecords[Kind], owner: string): Registration<Kind> {
    const faults = faultsOf(kind, record);
    if (faults.length > 0) throw new Error(`this cannot be a ${kind}: ${faults.join('; ')}`);
    const name = record.name ?? null;
    if (kind === 'tool') this.#refuseTaken(record.name ?? '');
    const registered: Registered<Kind> = { owner, record };
    this.#records.set(kind, [...this.#all(kind), registered]);
    return { kind, name, owner, unregister: () => this.#keep(kind, (other) => other !== registered) };
  }

  /** The records of a kind that count, in the order of their registration. */
  list<Kind extends RegisterKind>(kind: Kind): readonly Registered<Kind>[] {
    const all = this.#all(kind) as readonly Registered<Kind>[];
    if (!ONE_OF_A_NAME.has(kind)) return all;
    return all.filter((one, at) => !all.slice(at + 1).some(({ record }) => record.name === one.record.name));
  }

  /** The record of a name: the newest where one of a name counts, else the first. */
  find<Kind extends RegisterKind>(kind: Kind, name: string): Registered<Kind> | null {
    return this.list(kind).find(({ record }) => record.name === name) ?? null;
  }

  unregisterOwner(owner: string): void {
    for (const kind of Array.from(this.#records.keys())) this.#keep(kind, (other) => other.owner !== owner);
  }

  #refuseTaken(tool: string): void {
    const holder = this.#reservedTools.has(tool) ? 'the engine itself' : this.find('tool', tool)?.owner;
    if (holder !== undefined)
      throw new Error(`the tool ${tool} is registered already, by ${holder}: choose another name`);
  }

  #all(kind: RegisterKind): readonly Registered<RegisterKind>[] {
    return this.#records.get(kind) ?? [];
  }

  #keep(kind: RegisterKind, isKept: (registered: Registered<RegisterKind>) => boolean): void {
    this.#records.set(kind, this.#all(kind).filter(isKept));
  }
}

function faultsOf(kind: RegisterKind, record: unknown): string[] {
  if (!Object.hasOwn(REGISTER_SCHEMAS, kind)) {
    return [`there is no kind ${JSON.stringify(kind)}; the kinds are ${Object.keys(REGISTER_SCHEMAS).join(', ')}`];
  }
  const parsed = REGISTER_SCHEMAS[kind].safeParse(record);
  if (parsed.success) return [];
  return parsed.error.issues.map(({ path, message }) => `${path.map(String).join('.') || 'the record'} ${message}`);
}
