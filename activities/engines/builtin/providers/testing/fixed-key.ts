import type { AuthBackend } from '../../auth/auth-backend.ts';

/** A key that is always the same. */
export function fixedKey(key: string): AuthBackend {
  return { name: 'a fixed key', apiKey: async () => await Promise.resolve(key) };
}
