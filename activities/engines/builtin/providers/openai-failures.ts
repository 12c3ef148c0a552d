import { APIConnectionError, APIError } from 'openai';
import { failureOfStatus, type Failure } from './failure.ts';
import { countOf, listOf, recordOf, stringOf } from './untrusted-json.ts';

/** The provider's own report of a fault, in the body of an answer that began well. */
export class ReportedFault extends Error {
  readonly report: unknown;

  constructor(report: unknown) {
    super('the provider reported a fault');
    this.report = report;
  }
}

/** What went wrong, from what the SDK threw. `isAnswering` once the answer had begun. */
export function failureOf(error: unknown, isAnswering: boolean): Failure {
  if (error instanceof ReportedFault) return failureOfReport(error.report);
  const code = causeCode(error);
  if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT') return SILENT;
  if (error instanceof APIConnectionError || !(error instanceof APIError)) {
    if (isAnswering) return brokenStream(error);
    return unreachable(error);
  }
  if (error.status === undefined) return failureOfReport(error.error);
  const failure = failureOfStatus(error.status, sentenceOf(error.error), error.headers);
  return isQuota(error.error) ? { ...failure, retryable: false } : failure;
}

export const SILENT: Failure = { code: 'provider_stalled', retryable: true, message: 'the provider went silent' };

function brokenStream(error: unknown): Failure {
  const reason = causeCode(error) ?? (error instanceof SyntaxError ? 'it holds malformed JSON' : null);
  const message = `the provider's stream broke off${reason === null ? '' : ` (${reason})`}`;
  return { code: 'provider_stream_broken', retryable: true, message };
}

/** A request that could not even be made (a base URL that is none) stays so; a server may come back. */
function unreachable(error: unknown): Failure {
  const isNetwork = error instanceof APIConnectionError;
  const code = causeCode(error);
  const what = isNetwork ? 'the provider could not be reached' : 'the request to the provider could not be made';
  return {
    code: 'provider_unavailable',
    retryable: isNetwork,
    message: code === null ? what : `${what} (${code})`,
  };
}

/** An error object inside a stream: its code may be an HTTP status (routers do that), its type a word. */
function failureOfReport(report: unknown): Failure {
  const body = recordOf(report);
  const status = countOf(Number(body?.['code'] ?? body?.['status'] ?? Number.NaN));
  const detail = sentenceOf(report);
  if (status !== null && status >= 400 && status < 600) return failureOfStatus(status, detail);
  const words = `${stringOf(body?.['type'])} ${stringOf(body?.['code'])}`;
  if (/rate_limit/.test(words)) return failureOfStatus(429, detail);
  const message = `the provider reported an error${detail === '' ? '' : `: ${detail}`}`;
  const isRefusal = isQuota(report) || /invalid_request|context_length|content_filter|content_policy/.test(words);
  return isRefusal
    ? { code: 'provider_rejected', retryable: false, message }
    : { code: 'provider_unavailable', retryable: true, message };
}

/** Only the sentences meant for people, wherever servers put them: the rest of a body may hold anything. */
function sentenceOf(report: unknown, depth = 0): string {
  if (typeof report === 'string' || depth > 3) return stringOf(report);
  if (Array.isArray(report)) {
    return report
      .slice(0, 3)
      .map((item) => sentenceOf(item, depth + 1))
      .join('; ');
  }
  const body = recordOf(report);
  if (body === null) return '';
  const field = listOf(body['loc']).join('.');
  const said = ['message', 'detail', 'msg']
    .map((name) => sentenceOf(body[name], depth + 1))
    .find((text) => text !== '');
  return `${field === '' ? '' : `${field}: `}${said ?? ''}`;
}

/** An account without money answers 429 too, and waiting does not fill it. */
function isQuota(report: unknown): boolean {
  const body = recordOf(report);
  return body?.['code'] === 'insufficient_quota' || body?.['type'] === 'insufficient_quota';
}

/** The system's name of a transport fault, such as ECONNRESET, from anywhere in the chain of causes. */
function causeCode(error: unknown): string | null {
  let current: unknown = error;
  for (let depth = 0; depth < 8 && current instanceof Error; depth++) {
    const code: unknown = 'code' in current ? current.code : undefined;
    if (typeof code === 'string' && /^[A-Z][A-Z0-9_]{2,40}$/.test(code)) return code;
    current = current.cause;
  }
  return null;
}
