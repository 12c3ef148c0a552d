import { failureOfStatus, type Failure } from './failure.ts';
import { ReportedFault } from './reported-fault.ts';
import { beginningOf } from './safe-text.ts';
import { countOf, listOf, recordOf, stringOf } from './untrusted-json.ts';

/** The error classes of a vendor's SDK; all of them are made by one generator and have one shape. */
export interface SdkErrors {
  readonly APIError: abstract new (...args: never[]) => ApiError;
  readonly APIConnectionError: abstract new (...args: never[]) => Error;
}

type ApiError = Error & {
  readonly status: number | undefined;
  readonly headers: Headers | undefined;
  readonly error: unknown;
};

/** What went wrong, from what the SDK threw. `isAnswering` once the answer had begun. */
export function failureOf(error: unknown, sdk: SdkErrors, isAnswering: boolean): Failure {
  if (error instanceof ReportedFault) return failureOfReport(error.report);
  const code = causeCode(error);
  if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT') return SILENT;
  const isNetwork = error instanceof sdk.APIConnectionError;
  if (isNetwork || !(error instanceof sdk.APIError)) {
    return isAnswering ? brokenStream(error) : unreachable(error, isNetwork);
  }
  const report = recordOf(error.error)?.['error'] ?? error.error;
  if (error.status === undefined) return failureOfReport(report);
  const failure = failureOfStatus(error.status, sentenceOf(report), error.headers);
  if (isTooLong(error.status, report)) return { ...failure, ...TOO_LONG };
  return isQuota(report) ? { ...failure, retryable: false } : failure;
}

export const SILENT: Failure = { code: 'provider_stalled', retryable: true, message: 'the provider went silent' };

function brokenStream(error: unknown): Failure {
  const reason = causeCode(error) ?? (error instanceof SyntaxError ? 'it holds malformed JSON' : null);
  const message = `the provider's stream broke off${reason === null ? '' : ` (${reason})`}`;
  return { code: 'provider_stream_broken', retryable: true, message };
}

/** A request that could not even be made (a base URL that is none) stays so; a server may come back. */
function unreachable(error: unknown, isNetwork: boolean): Failure {
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
  if (status !== null && status >= 400 && status < 600) {
    const failure = failureOfStatus(status, detail);
    return isTooLong(status, report) ? { ...failure, ...TOO_LONG } : failure;
  }
  const words = `${stringOf(body?.['type'])} ${stringOf(body?.['code'])}`;
  const message = `the provider reported an error${detail === '' ? '' : `: ${detail}`}`;
  const refused = isTooLong(400, report) ? TOO_LONG : isQuota(report) ? REJECTED : undefined;
  const meant = refused ?? MEANINGS.find(([word]) => word.test(words))?.[1];
  return { code: 'provider_unavailable', retryable: true, ...meant, message };
}

const REJECTED = { code: 'provider_rejected', retryable: false } as const;
const TOO_LONG = { code: 'context_length_exceeded', retryable: false } as const;

/** The codes and the sentences by which vendors and servers refuse a prompt that is over the model's context. */
const TOO_LONG_CODES = /^(context_length_exceeded|exceed_context_size_error|request_too_large)$/;
const TOO_LONG_SENTENCES =
  /prompt is too long|(maximum|exceeds?) .{0,40}context|context window|token count .{0,40}exceeds the maximum/i;

/** The words by which the vendors name their faults; any other is one of the server's, which a retry may mend. */
const MEANINGS: readonly (readonly [RegExp, Pick<Failure, 'code' | 'retryable'>])[] = [
  [/rate_limit/, { code: 'provider_rate_limited', retryable: true }],
  [/authentication|permission|invalid_api_key/, { code: 'provider_auth', retryable: false }],
  [/invalid_|content_filter|content_policy|not_found|billing/, REJECTED],
];

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

/** Whether a prompt was refused for its length; only a refusal (400, 413, 422) is looked at. */
function isTooLong(status: number, report: unknown): boolean {
  if (status !== 400 && status !== 413 && status !== 422) return false;
  const body = recordOf(report);
  const codes = [stringOf(body?.['code']), stringOf(body?.['type'])];
  return codes.some((code) => TOO_LONG_CODES.test(code)) || TOO_LONG_SENTENCES.test(beginningOf(sentenceOf(report)));
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
