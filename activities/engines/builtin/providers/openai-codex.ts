import { claimsOf } from '../auth/token-file.ts';
import { createHttpProvider } from './http-provider.ts';
import type { OpenAISettings } from './openai-completions.ts';
import { responsesProtocol } from './openai-responses.ts';
import type { Provider } from './provider.ts';
import { recordOf, stringOf } from './untrusted-json.ts';

const CODEX_URL = 'https://chatgpt.com/backend-api/codex';
const ACCOUNT_CLAIM = 'https://api.openai.com/auth';

/** The Responses API of a ChatGPT account: its own address, its login's token in place of a key, no bound on tokens. */
export function createOpenAICodex({ baseUrl = CODEX_URL, ...settings }: OpenAISettings): Provider {
  const protocol = responsesProtocol({ api: 'openai-codex', boundsTokens: false, headersFor });
  return createHttpProvider(protocol, { ...settings, baseUrl });
}

/** The token says whose account pays. */
function headersFor(token: string): Record<string, string> {
  const account = stringOf(recordOf(claimsOf(token)[ACCOUNT_CLAIM])?.['chatgpt_account_id']);
  return { originator: 'tidemark', ...(account === '' ? {} : { 'chatgpt-account-id': account }) };
}
