import { faultText } from '../fault-text.ts';

/**
 * What an agent yields, as plain JSON: a class by its `toJSON`, an error by its name and a sentence that is safe to show, bytes by
 * their number.
 *
 * **Contract:** never throws; what cannot be said in JSON is left out or named.
 */
export function plainJson(value: unknown): unknown {
  const above: unknown[] = [];
  function plain(this: unknown, key: string, item: unknown): unknown {
    const raw = (this as Record<string, unknown>)[key];
    if (ArrayBuffer.isView(raw)) return { bytes: raw.byteLength };
    if (raw instanceof Error) return plainError(raw);
    if (typeof item === 'bigint') return String(item);
    if (typeof item !== 'object' || item === null) return item;
    while (above.length > 0 && above.at(-1) !== this) above.pop();
    if (above.includes(item)) return '[circular]';
    above.push(item);
    return item;
  }
  try {
    const text = JSON.stringify(value, plain) as string | undefined;
    return text === undefined ? null : (JSON.parse(text) as unknown);
  } catch {
    return '[unreadable]';
  }
}

/** An error of an agent: what its libraries tell beside it, such as requests and headers, is private. */
export interface PlainError {
  readonly name: string;
  readonly message: string;
  readonly statusCode?: number;
  readonly isRetryable?: boolean;
}

export function plainError(error: unknown): PlainError {
  if (!(error instanceof Error)) return { name: 'Error', message: faultText(messageIn(error)) };
  const { name, message, statusCode, isRetryable } = error as Error & { statusCode?: unknown; isRetryable?: unknown };
  return {
    name,
    message: faultText(message),
    ...(typeof statusCode === 'number' ? { statusCode } : {}),
    ...(typeof isRetryable === 'boolean' ? { isRetryable } : {}),
  };
}

function messageIn(error: unknown): string | undefined {
  if (typeof error === 'string') return error;
  const { message } = (error ?? {}) as { message?: unknown };
  return typeof message === 'string' ? message : undefined;
}
