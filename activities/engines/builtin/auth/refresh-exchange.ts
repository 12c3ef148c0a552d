import { z } from 'zod';
import { TidemarkError } from '../../../../contract/errors.ts';
import type { Renewed } from './token-file.ts';

const TIMEOUT_MS = 30_000;

const Granted = z.object({
  access_token: z.string().min(1),
  refresh_token: z.string().min(1).optional(),
  expires_in: z.number().positive().optional(),
});

/**
 * One refresh at the token endpoint (RFC 6749, section 6).
 *
 * **Contract:** gives `refused` where the endpoint says that this refresh token is no longer good; throws
 * `provider_unavailable`, which a retry may mend, for everything else. What the endpoint said is in no message.
 */
export async function exchangeRefreshToken(request: {
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly refreshToken: string;
}): Promise<Renewed | 'refused'> {
  const body = new URLSearchParams({
    grant_type: 'refresh_token',
    client_id: request.clientId,
    refresh_token: request.refreshToken,
  });
  const answer = await post(request.tokenUrl, body);
  if (answer.status === 400 || answer.status === 401 || answer.status === 403) return 'refused';
  const granted = Granted.safeParse(answer.body);
  if (answer.status !== 200 || !granted.success) {
    throw unavailable(`the token endpoint answered ${String(answer.status)} without a token`);
  }
  const { access_token: accessToken, refresh_token: refreshToken, expires_in: lifeSeconds } = granted.data;
  const expiresAtMs = lifeSeconds === undefined ? null : Date.now() + lifeSeconds * 1000;
  return { accessToken, refreshToken: refreshToken ?? null, expiresAtMs };
}

async function post(url: string, body: URLSearchParams): Promise<{ status: number; body: unknown }> {
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const response = await fetch(url, { method: 'POST', body, signal, headers: { accept: 'application/json' } });
    const text = await response.text();
    return { status: response.status, body: jsonOf(text) };
  } catch (cause) {
    throw unavailable('the token endpoint could not be reached', cause);
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function unavailable(message: string, cause?: unknown): TidemarkError {
  return new TidemarkError(
    'provider_unavailable',
    message,
    'Look whether the token endpoint is up; it is tried again.',
    {
      cause,
    },
  );
}
