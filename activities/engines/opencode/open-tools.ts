import { PartUpdate, Scope, type Part, type ServerEvent } from './opencode-schema.ts';

const REMEMBERED = 200;

/** The tools at work in all sessions of one server; of the last ones, what each is to do. */
export class OpenTools {
  readonly #parts = new Map<string, Part>();

  /** Takes an event. */
  take({ type, properties }: ServerEvent): void {
    if (type === 'session.idle') this.#forget(Scope.safeParse(properties).data?.sessionID ?? '');
    const part = type === 'message.part.updated' ? PartUpdate.safeParse(properties).data?.part : undefined;
    if (part?.type !== 'tool') return;
    this.#parts.delete(part.id);
    if (part.state.status !== 'pending' && part.state.status !== 'running') return;
    this.#parts.set(part.id, part);
    const [oldest] = this.#parts.keys();
    if (this.#parts.size > REMEMBERED && oldest !== undefined) this.#parts.delete(oldest);
  }

  /** The tool's call by the model's id of it, which only its session makes unique. */
  callOf({ sessionID, callID }: { sessionID: string; callID: string }): Part | null {
    return [...this.#parts.values()].find((part) => part.sessionID === sessionID && part.callID === callID) ?? null;
  }

  /** Whether one works: one whose input is still being written is the model's work. */
  get isOneOpen(): boolean {
    return [...this.#parts.values()].some(({ state }) => state.status === 'running');
  }

  #forget(sessionId: string): void {
    for (const [id, part] of this.#parts) if (part.sessionID === sessionId) this.#parts.delete(id);
  }
}
