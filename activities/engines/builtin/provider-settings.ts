import { hostEnvironment } from '../../../infra/config.ts';
import type { KeySource, ProviderConfig } from '../../../infra/provider-config.ts';
import type { AuthBackend } from './auth/auth-backend.ts';
import { environmentKey } from './auth/environment-key.ts';
import { fileKey } from './auth/file-key.ts';
import { oauthToken } from './auth/oauth-token.ts';
import { registeredBackend } from './auth/registered-backend.ts';
import type { ProviderSettings } from './providers/registry.ts';

type FindBackend = Parameters<typeof registeredBackend>[1];

/** The providers that the configuration names, each with the place that its key comes from. */
export function providerSettings(
  { openai, anthropic, openaiCodex }: ProviderConfig,
  findBackend: FindBackend,
): ProviderSettings {
  const authOf = (key: KeySource) => backendOf(key, findBackend);
  return {
    openai: openai && { auth: authOf(openai.key), baseUrl: openai.baseUrl, api: openai.api },
    anthropic: anthropic && { auth: authOf(anthropic.key), baseUrl: anthropic.baseUrl, thinking: anthropic.thinking },
    openaiCodex: openaiCodex && { auth: authOf(openaiCodex.key), baseUrl: openaiCodex.baseUrl },
  };
}

function backendOf(key: KeySource, findBackend: FindBackend): AuthBackend {
  switch (key.kind) {
    case 'environment':
      return environmentKey({
        variable: key.variable,
        environment: hostEnvironment(),
        // the SDKs insist on a key, and a server of one's own does not look at it
        ...(key.isOptional ? { otherwise: 'none' } : {}),
      });
    case 'file':
      return fileKey(key.path);
    case 'backend':
      return registeredBackend(key.name, findBackend);
    case 'oauth':
      return oauthToken(key);
  }
}
