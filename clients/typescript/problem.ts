import { z } from 'zod';
import { TidemarkApiError } from './api-error.ts';

const Problem = z.looseObject({
  code: z.string().min(1),
  detail: z.string(),
  remedy: z.string(),
});
const STANDARD_MEMBERS: ReadonlySet<string> = new Set([
  'type',
  'title',
  'status',
  'instance',
  'code',
  'detail',
  'remedy',
]);
const SHOWN_CHARS = 200;

/** Reads an answer that is no success. A body that is no problem (a proxy's page) is quoted. */
export async function readProblem(request: string, response: Response): Promise<TidemarkApiError> {
  const { status } = response;
  const about = {
    status,
    mayPass: status === 429 || status >= 500,
    retryAfterMs: retryAfterMs(response.headers.get('retry-after')),
  };
  const text = await response.text().catch(() => '');
  const parsed = Problem.safeParse(asJson(text));
  if (!parsed.success) {
    const said = text.trim() === '' ? 'nothing' : JSON.stringify(text.slice(0, SHOWN_CHARS));
    return new TidemarkApiError(
      'unexpected_answer',
      `${request} was answered with ${String(status)} and ${said}, which is no problem of Tidemark's`,
      'Check that the base URL leads to a Tidemark gateway, and what stands between.',
      about,
    );
  }
  const { code, detail, remedy, ...rest } = parsed.data;
  const facts = Object.fromEntries(Object.entries(rest).filter(([name]) => !STANDARD_MEMBERS.has(name)));
  return new TidemarkApiError(code, detail, remedy, { ...about, facts });
}

function asJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function retryAfterMs(header: string | null): number | null {
  return header !== null && /^\d{1,5}$/.test(header) ? Number(header) * 1_000 : null;
}
