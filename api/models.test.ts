import { describe, expect, it } from 'vitest';
import { loadConfig } from '../infra/config.ts';
import { loadTidemarkConfig } from '../infra/tidemark-config.ts';
import { chooseEngine } from './models.ts';

const offer = { config: loadConfig({}), engines: (await loadTidemarkConfig({ configFile: undefined })).engines };

describe('the engine and model of a run', () => {
  it.each([
    [undefined, undefined, { engine: 'builtin', model: 'scripted/demo' }],
    ['builtin', 'scripted/text', { engine: 'builtin', model: 'scripted/text' }],
    ['opencode', undefined, { engine: 'opencode', model: 'default' }],
    ['codex', 'gpt-5.1-codex', { engine: 'codex', model: 'gpt-5.1-codex' }],
  ])('is, for engine %s and model %s, %o', (engine, model, chosen) => {
    expect(chooseEngine(offer, { engine, model })).toEqual(chosen);
  });

  it.each([
    ['warp', undefined, 'unknown_engine'],
    ['builtin', 'gpt-5', 'unknown_model'],
    ['codex', 'a model; rm -rf', 'unknown_model'],
    ['codex', 'x'.repeat(151), 'unknown_model'],
  ])('is refused for engine %s and model %s as %s', (engine, model, code) => {
    expect(() => chooseEngine(offer, { engine, model })).toThrow(expect.objectContaining({ code }));
  });

  it('may be one of any provider that is configured', () => {
    const config = loadConfig({ ANTHROPIC_API_KEY: 'k' });
    const { engines } = offer;
    const wanted = { engine: undefined, model: 'anthropic/claude-opus-5-5' };
    expect(chooseEngine({ config, engines }, wanted)).toEqual({ engine: 'builtin', model: wanted.model });
    expect(() => chooseEngine(offer, wanted)).toThrow(
      expect.objectContaining({ remedy: expect.stringContaining('ANTHROPIC_API_KEY for anthropic/…') as string }),
    );
  });
});
