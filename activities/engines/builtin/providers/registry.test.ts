import { describe, expect, it } from 'vitest';
import { TidemarkError } from '../../../../contract/errors.ts';
import { fixedKey } from './testing/fixed-key.ts';
import { createProviders } from './registry.ts';

const keyed = await createProviders({
  openai: { auth: fixedKey('k'), baseUrl: 'http://127.0.0.1:9/v1', api: 'completions' },
});
const keyless = await createProviders({});

function refusalOf(work: () => unknown): TidemarkError {
  try {
    work();
  } catch (error) {
    if (error instanceof TidemarkError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('a model name', () => {
  it('is a provider and, behind the first slash, its model', () => {
    expect(keyed.resolve('openai/vendor/large')).toMatchObject({
      model: 'vendor/large',
      provider: { name: 'openai', api: 'openai-completions' },
    });
    expect(keyless.resolve('scripted/demo')).toMatchObject({ model: 'demo', provider: { name: 'scripted' } });
  });

  it('of OpenAI is asked by the API that is configured', async () => {
    const settings = { auth: fixedKey('k'), api: 'responses' as const };
    const { provider } = (await createProviders({ openai: settings })).resolve('openai/gpt-5-mini');
    expect(provider).toMatchObject({
      name: 'openai',
      api: 'openai-responses',
    });
  });

  it.each([
    ['anthropic/claude', 'anthropic-messages', 'ANTHROPIC_API_KEY'],
    ['openai-codex/gpt-5-codex', 'openai-codex', 'OPENAI_CODEX_TOKEN_FILE'],
  ])('%s is served by %s where that is configured', async (name, api, variable) => {
    const all = await createProviders({ anthropic: { auth: fixedKey('k') }, openaiCodex: { auth: fixedKey('k') } });
    expect(all.resolve(name).provider.api).toBe(api);
    expect(refusalOf(() => keyed.resolve(name))).toMatchObject({
      code: 'model_not_configured',
      remedy: expect.stringContaining(variable) as string,
    });
  });

  it('of a provider without a key is refused with what to set', () => {
    const refusal = refusalOf(() => keyless.resolve('openai/gpt-5-mini'));
    expect(refusal.code).toBe('model_not_configured');
    expect(refusal.remedy).toMatch(/Set OPENAI_API_KEY.*scripted\/demo/);
  });

  it.each(['', 'demo', '/demo', 'openai/', 'scripted/', 'scripted/nope', 'scripted/constructor', 'other/x'])(
    '%j is unknown, and the refusal names what there is',
    (name) => {
      const refusal = refusalOf(() => keyed.resolve(name));
      expect(refusal.code).toBe('unknown_model');
      expect(refusal.remedy).toMatch(/openai\/<model>, scripted\/approval, scripted\/delegate/);
    },
  );
});
