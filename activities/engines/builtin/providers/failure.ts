import type { ErrorCode } from '../../../../contract/errors.ts';

/** Why a provider call ended without an answer. `message` is safe to store and to show. */
export interface Failure {
  readonly code: ErrorCode;
  readonly retryable: boolean;
  readonly message: string;
  readonly retryAfterMs?: number;
}

/** The provider's filter stopped the answer, or the model refused to go on: asking again gives the same. */
export const FILTERED: Failure = {
  code: 'provider_rejected',
  retryable: false,
  message: "the provider's content filter stopped the answer",
};

const DAY_MS = 24 * 60 * 60 * 1000;

/** What an HTTP status says about the call. `detail` is the provider's own sentence, if it gave one. */
export function failureOfStatus(status: number, detail: string, headers?: Headers): Failure {
  const message = `the provider answered ${String(status)}${detail === '' ? '' : `: ${detail}`}`;
  if (status === 401 || status === 403) return { code: 'provider_auth', retryable: false, message };
  const mayRetry = headers?.get('x-should-retry') !== 'false';
  const retryAfterMs = retryAfter(headers);
  const wait = retryAfterMs === null ? {} : { retryAfterMs };
  if (status === 429) return { code: 'provider_rate_limited', retryable: mayRetry, message, ...wait };
  if (status === 408 || status === 409 || status >= 500) {
    return { code: 'provider_unavailable', retryable: mayRetry, message, ...wait };
  }
  return { code: 'provider_rejected', retryable: false, message };
}

/** `retry-after-ms`, else `retry-after` in seconds or as a date; at most a day. */
function retryAfter(headers: Headers | undefined): number | null {
  const milliseconds = Number.parseFloat(headers?.get('retry-after-ms') ?? '');
  if (milliseconds >= 0) return Math.min(Math.ceil(milliseconds), DAY_MS);
  const value = headers?.get('retry-after')?.trim() ?? '';
  let waitMs: number | null = null;
  if (/^\d+(\.\d+)?$/.test(value)) waitMs = Number(value) * 1000;
  else if (/^[A-Z][a-z]{2,8}, /.test(value)) waitMs = Date.parse(value) - Date.now();
  return waitMs === null || Number.isNaN(waitMs) ? null : Math.min(Math.max(Math.ceil(waitMs), 0), DAY_MS);
}
