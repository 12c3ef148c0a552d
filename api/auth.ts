import { hash, timingSafeEqual } from 'node:crypto';
import type { RequestHandler, Response } from 'express';
import { TidemarkError } from '../contract/errors.ts';
import type { Config } from '../infra/config.ts';

/** The one tenant of an installation without tenants of its own. */
const DEFAULT_TENANT = 'default';

/** The tenant that the request acts for. */
export function tenantOf(res: Response): string {
  const tenant: unknown = res.locals['tenantId'];
  if (typeof tenant !== 'string') throw new Error('the route is not behind authentication');
  return tenant;
}

/**
 * Who may call: with keys configured, bearers of one of them; without, whoever reaches the loopback address under a loopback
 * name (a page of another site that points its own name here is refused).
 */
export function authenticate(config: Pick<Config, 'apiKeys'>): RequestHandler {
  const keys = config.apiKeys.map(digest);
  return (req, res, next) => {
    if (keys.length === 0) {
      if (!isLoopbackName(req.headers.host)) throw hostNotAllowed();
    } else if (!bearsKey(req.headers.authorization, keys)) throw unauthenticated();
    res.locals['tenantId'] = DEFAULT_TENANT;
    next();
  };
}

function bearsKey(header: string | undefined, keys: readonly Buffer[]): boolean {
  const token = /^Bearer ([\x21-\x7e]+)$/i.exec(header ?? '')?.[1];
  if (token === undefined) return false;
  const given = digest(token);
  // every key is compared, so that the time tells nothing of which one was close
  return keys.map((key) => timingSafeEqual(key, given)).includes(true);
}

function digest(key: string): Buffer {
  return hash('sha256', key, 'buffer');
}

function isLoopbackName(host: string | undefined): boolean {
  const name = (host ?? '').replace(/:\d+$/, '').toLowerCase();
  return name === 'localhost' || name === '[::1]' || /^127(\.\d{1,3}){3}$/.test(name);
}

function unauthenticated(): TidemarkError {
  return new TidemarkError(
    'unauthenticated',
    'this needs an API key',
    'Send "Authorization: Bearer <key>" with one of the keys in TIDEMARK_API_KEYS.',
  );
}

function hostNotAllowed(): TidemarkError {
  return new TidemarkError(
    'host_not_allowed',
    'without API keys this gateway answers only under a loopback name',
    'Call it as localhost or 127.0.0.1, or set TIDEMARK_API_KEYS.',
  );
}
