import { randomUUID } from 'node:crypto';
import { chmod, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { z } from 'zod';
import { TidemarkError } from '../../../../contract/errors.ts';

const Tokens = z.looseObject({
  access_token: z.string().min(1).optional(),
  refresh_token: z.string().min(1).optional(),
  /** Seconds since the epoch, or a date; without it the access token's own claim `exp` counts. */
  expires_at: z.union([z.number(), z.string()]).optional(),
});
/** The tokens stand at the top, or under `tokens`, as the Codex CLI writes its `auth.json`. */
interface TokenDocument {
  readonly whole: Readonly<Record<string, unknown>>;
  readonly isNested: boolean;
  readonly tokens: z.infer<typeof Tokens>;
}

export interface TokenSet {
  readonly accessToken: string | null;
  readonly refreshToken: string | null;
  /** Not known: it is used until it is refused. */
  readonly expiresAtMs: number | null;
}

/** Reads the tokens of a file; throws `provider_auth` where it holds none. */
export async function readTokens(path: string): Promise<TokenSet> {
  const { tokens } = await readDocument(path);
  const accessToken = tokens.access_token ?? null;
  return {
    accessToken,
    refreshToken: tokens.refresh_token ?? null,
    expiresAtMs: expiryOf(tokens.expires_at) ?? (accessToken === null ? null : expiryClaim(accessToken)),
  };
}

/**
 * Puts new tokens into the file; what else it holds stays.
 *
 * **Contract:** whoever reads at the same time sees the old file or the new one, never a part; only the owner may read it.
 */
export async function writeTokens(path: string, renewed: Renewed): Promise<void> {
  const { whole, isNested, tokens } = await readDocument(path);
  const changed = {
    ...tokens,
    access_token: renewed.accessToken,
    ...(renewed.refreshToken === null ? {} : { refresh_token: renewed.refreshToken }),
    ...(renewed.expiresAtMs === null ? {} : { expires_at: new Date(renewed.expiresAtMs).toISOString() }),
  };
  if (renewed.expiresAtMs === null) delete changed.expires_at;
  const next = isNested ? { ...whole, tokens: changed } : changed;
  const part = `${path}.${randomUUID()}`;
  try {
    await writeFile(part, `${JSON.stringify(next, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
    await chmod(part, 0o600);
    await rename(part, path);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

export interface Renewed {
  readonly accessToken: string;
  /** Null where the old one stays good. */
  readonly refreshToken: string | null;
  readonly expiresAtMs: number | null;
}

/** The claims of a JSON Web Token, unverified: they are read for a date and an account, never for trust. */
export function claimsOf(token: string): Readonly<Record<string, unknown>> {
  const part = token.split('.')[1] ?? '';
  try {
    const claims: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    return typeof claims === 'object' && claims !== null ? (claims as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

async function readDocument(path: string): Promise<TokenDocument> {
  try {
    const whole = z.record(z.string(), z.unknown()).parse(JSON.parse(await readFile(path, 'utf8')));
    const isNested = 'tokens' in whole;
    return { whole, isNested, tokens: Tokens.parse(isNested ? whole['tokens'] : whole) };
  } catch (error) {
    const reason =
      error instanceof Error && 'code' in error ? `cannot be read (${String(error.code)})` : 'holds no tokens in JSON';
    throw new TidemarkError(
      'provider_auth',
      `the token file ${path} ${reason}`,
      'Log in again, and let the worker read and replace the file.',
    );
  }
}

function expiryOf(value: string | number | undefined): number | null {
  if (typeof value === 'number') return value * 1000;
  const atMs = Date.parse(value ?? '');
  return Number.isNaN(atMs) ? null : atMs;
}

function expiryClaim(accessToken: string): number | null {
  const { exp } = claimsOf(accessToken);
  return typeof exp === 'number' ? exp * 1000 : null;
}
