import { TidemarkError } from '../../../../contract/errors.ts';
import { firstLineOf } from '../../../../contract/extensions/event-bus.ts';
import type { AuthBackendRecord } from '../../../../contract/extensions/register-kinds.ts';
import { safeText } from '../providers/safe-text.ts';

/**
 * The auth backend that an extension has registered under a name, looked for at each call: an extension may be loaded anew.
 *
 * **Contract:** what it throws is `provider_auth`, in words without what looks like a secret.
 */
export function registeredBackend(
  name: string,
  find: (name: string) => AuthBackendRecord | undefined,
): AuthBackendRecord {
  return {
    name,
    async apiKey(refused) {
      const backend = find(name);
      if (backend === undefined) {
        const remedy = 'Name an extension in tidemark.config.ts that registers it, or correct the setting.';
        throw new TidemarkError('provider_auth', `no extension has registered the auth backend ${name}`, remedy);
      }
      try {
        return await backend.apiKey(refused);
      } catch (thrown) {
        const why = safeText(firstLineOf(thrown), []);
        throw new TidemarkError(
          'provider_auth',
          `the auth backend ${name} failed: ${why}`,
          'See the extension that registers it.',
        );
      }
    },
  };
}
