import { TidemarkError } from '../../../../contract/errors.ts';
import type { AuthBackend } from './auth-backend.ts';
import { exchangeRefreshToken } from './refresh-exchange.ts';
import { readTokens, writeTokens, type TokenSet } from './token-file.ts';

export interface OAuthSettings {
  /** Holds `access_token`, `refresh_token` and, if known, `expires_at`. */
  readonly tokenFile: string;
  readonly tokenUrl: string;
  readonly clientId: string;
}

/** A token with less life than this is renewed first: the call that takes it may be queued. */
const FRESH_FOR_MS = 60_000;

/**
 * Access tokens renewed by a refresh token that is kept in a file.
 *
 * **Contract:** the file is read at each call, so a login made elsewhere is used at once. However many calls find the token
 * spent, one refresh is made, and all of them get what it gave. The new tokens are in the file before they are used, so a
 * rotated refresh token outlives the process. Another process that was faster is not fought: when the refresh token is
 * refused and the file has changed meanwhile, what it holds now is used.
 */
export function oauthToken(settings: OAuthSettings): AuthBackend {
  let renewing: Promise<string> | null = null;
  return {
    name: `OAuth ${settings.tokenFile}`,
    async apiKey(refused) {
      const tokens = await readTokens(settings.tokenFile);
      if (isGood(tokens, refused)) return tokens.accessToken;
      renewing ??= renew(settings, tokens).finally(() => (renewing = null));
      return await renewing;
    },
  };
}

function isGood(tokens: TokenSet, refused: string | undefined): boolean {
  if (tokens.accessToken === null || tokens.accessToken === refused) return false;
  return tokens.expiresAtMs === null || tokens.expiresAtMs - Date.now() > FRESH_FOR_MS;
}

async function renew(settings: OAuthSettings, spent: TokenSet): Promise<string> {
  if (spent.refreshToken === null) throw loggedOut(`the token file ${settings.tokenFile} has no refresh token`);
  const renewed = await exchangeRefreshToken({ ...settings, refreshToken: spent.refreshToken });
  if (renewed === 'refused') {
    const now = await readTokens(settings.tokenFile);
    if (now.accessToken !== spent.accessToken && isGood(now, undefined)) return now.accessToken ?? '';
    throw loggedOut('the refresh token was refused');
  }
  await writeTokens(settings.tokenFile, renewed);
  return renewed.accessToken;
}

function loggedOut(what: string): TidemarkError {
  return new TidemarkError('provider_auth', what, 'Log in again: the token file needs a new refresh token.');
}
