import type { AuthBackendRecord } from '../../../../contract/extensions/register-kinds.ts';

/**
 * Where a provider's key comes from (extension contracts, register kind `auth-backend`).
 *
 * **Contract:** `apiKey` is asked before each call, so a key that was replaced is used from the next call on. It gives null
 * where there is none, and throws a `TidemarkError` with a `provider_…` code where one could not be fetched. `refused` is a
 * key that the provider has just turned down: whoever can get another one gets it then; the same key again means that
 * there is no other. No message that it throws holds a secret.
 */
export type AuthBackend = AuthBackendRecord;
