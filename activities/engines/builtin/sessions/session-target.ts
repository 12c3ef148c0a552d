import { TidemarkError } from '../../../../contract/errors.ts';
import type { FindSessions, SessionInfo } from './session-backend.ts';

/** What a backend looks sessions up by. */
export interface SessionLookup {
  /** The newest begun first, from the n-th on. */
  page(from: number, limit: number): Promise<SessionInfo[]>;
  byPath(path: string): Promise<SessionInfo | null>;
  /** Some sessions whose id begins so. */
  byPrefix(prefix: string, limit: number): Promise<SessionInfo[]>;
}

/** Ids that an error names, at most. */
const NAMED = 5;

/**
 * The sessions that a target means; all of a page without one. A path or a whole id goes before the beginning of one.
 *
 * @throws TidemarkError `session_ambiguous`
 */
export async function findByTarget(
  lookup: SessionLookup,
  { target, limit }: { target: FindSessions['target']; limit: number },
): Promise<SessionInfo[]> {
  if (target === undefined) return await lookup.page(0, limit);
  if (target === 'latest') return await lookup.page(0, 1);
  if (typeof target === 'number') return Number.isInteger(target) && target >= 0 ? await lookup.page(target, 1) : [];
  const exact = await lookup.byPath(target);
  if (exact !== null) return [exact];
  if (target === '') return [];
  const found = await lookup.byPrefix(target, NAMED);
  const whole = found.find(({ id }) => id === target);
  if (whole !== undefined) return [whole];
  if (found.length <= 1) return found;
  throw new TidemarkError(
    'session_ambiguous',
    'more than one session’s id begins so',
    'Give more of the id; session_ids names some that fit.',
    { facts: { session_ids: found.map(({ id }) => id) } },
  );
}

/** The same words for a missing session and for one that is out of scope. */
export function noSuchSession(): TidemarkError {
  return new TidemarkError(
    'session_not_found',
    'there is no such session',
    'List the sessions, and give one’s path, its id or the beginning of it.',
  );
}
