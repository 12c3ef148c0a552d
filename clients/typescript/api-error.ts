import type { ErrorCode } from '../../contract/errors.ts';

/** What goes wrong on this side of the wire. */
export type ClientErrorCode =
  /** Nothing came back: no connection, a broken one, or silence. */
  | 'no_answer'
  /** What came back is not what the protocol says. */
  | 'unexpected_answer'
  /** A thread's stream said what cannot be, again and again. */
  | 'stream_invalid'
  /** The page has no WebCrypto: browsers have it on https and on localhost alone. */
  | 'no_web_crypto';

/** A newer server may know codes that this client does not. */
export type ApiErrorCode = ErrorCode | ClientErrorCode | (string & {});

export interface ApiErrorOptions {
  /** The HTTP status; null when there was no answer. */
  readonly status?: number | null;
  /** The members of the problem beside the standard ones: the field at fault, the head of a thread, the recorded answer. */
  readonly facts?: Readonly<Record<string, unknown>>;
  /** Sent again as it is, the request may succeed. */
  readonly mayPass?: boolean;
  /** How long the server asks to wait before that. */
  readonly retryAfterMs?: number | null;
  readonly cause?: unknown;
}

/** A request that failed, as a problem that its reader can act on. Match on `code`, never on the message. */
export class TidemarkApiError extends Error {
  readonly code: ApiErrorCode;
  readonly remedy: string;
  readonly status: number | null;
  readonly facts: Readonly<Record<string, unknown>>;
  readonly mayPass: boolean;
  readonly retryAfterMs: number | null;

  constructor(code: ApiErrorCode, message: string, remedy: string, options: ApiErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'TidemarkApiError';
    this.code = code;
    this.remedy = remedy;
    this.status = options.status ?? null;
    this.facts = options.facts ?? {};
    this.mayPass = options.mayPass ?? false;
    this.retryAfterMs = options.retryAfterMs ?? null;
  }
}
