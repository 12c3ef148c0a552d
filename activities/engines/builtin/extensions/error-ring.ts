import type { EmittedEvent } from '../../../../contract/extensions/bus-event.ts';
import { safeText } from '../providers/safe-text.ts';

const MOST = 100;

export interface NotedError {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly type: string;
  readonly error: string;
  readonly owner: string | null;
  readonly event: string | null;
}

/** The newest errors of extensions, their texts without what looks like a secret (source facts, C.1). */
export class ErrorRing {
  readonly #errors: NotedError[] = [];

  note(event: EmittedEvent): NotedError {
    const { type, error, owner, event: during } = event as Readonly<Record<string, unknown>>;
    const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);
    const noted = {
      at: Date.now(),
      type: String(type),
      error: safeText(text(error) ?? '', []),
      owner: text(owner),
      event: text(during),
    };
    this.#errors.push(noted);
    if (this.#errors.length > MOST) this.#errors.shift();
    return noted;
  }

  /** Oldest first. */
  all(): readonly NotedError[] {
    return [...this.#errors];
  }
}
