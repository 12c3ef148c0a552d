import { describe, expect, it } from 'vitest';
import type { Provider } from './provider.ts';
import { createOpenAICodex } from './openai-codex.ts';
import { createOpenAIResponses } from './openai-responses.ts';
import { fixedKey } from './testing/fixed-key.ts';
import { text, useProviderRig } from './testing/provider-rig.ts';
import { responsesWire } from './testing/responses-wire.ts';
import { HELLO } from './testing/wire-server.ts';

const rig = useProviderRig(responsesWire);

async function complete(provider: Provider, model: string): Promise<string | undefined> {
  const options = { signal: new AbortController().signal, stallMs: 5_000, toolCallId: String };
  return (await provider.complete(model, HELLO, options)).stopReason;
}

describe('what a model does not know', () => {
  it('is asked for once: a model that does not reason is then asked without, and each model for itself', async () => {
    rig.server.received.length = 0;
    rig.server.answer = (response, request) => {
      const { body } = request;
      const message =
        body['reasoning'] !== undefined
          ? "Unsupported parameter: 'reasoning.summary' is not supported with this model."
          : 'Encrypted content is not supported with this model.';
      const isRefused = body['model'] === 'plain' && (body['reasoning'] ?? body['include']) !== undefined;
      return (isRefused ? rig.refuses(400, message) : rig.says({ said: [text('hi')], end: 'stop' }))(response, request);
    };
    const provider = createOpenAIResponses({ name: 'openai', auth: fixedKey('k'), baseUrl: rig.server.baseUrl });
    for (const model of ['plain', 'plain', 'reasoning']) expect(await complete(provider, model)).toBe('stop');
    expect(rig.server.received.map(({ body }) => [body['model'], 'reasoning' in body, 'include' in body])).toEqual([
      ['plain', true, true],
      ['plain', false, true],
      ['plain', false, false],
      ['plain', false, false],
      ['reasoning', true, true],
    ]);
  });
});

describe('a ChatGPT login', () => {
  it('is asked without a bound on tokens, in the name of the account that its token tells', async () => {
    const claims = { 'https://api.openai.com/auth': { chatgpt_account_id: 'acct-1' } };
    const token = `h.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.s`;
    rig.server.answer = rig.says({ said: [text('hi')], end: 'stop' });
    const provider = createOpenAICodex({ name: 'openai-codex', auth: fixedKey(token), baseUrl: rig.server.baseUrl });
    expect(await complete(provider, 'gpt-5-codex')).toBe('stop');
    const request = rig.server.received.at(-1);
    expect(request?.headers).toMatchObject({ authorization: `Bearer ${token}`, 'chatgpt-account-id': 'acct-1' });
    expect(request?.body).toMatchObject({ store: false, stream: true });
    expect(request?.body).not.toHaveProperty('max_output_tokens');
  });
});
