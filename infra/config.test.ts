import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { assertSafeBinding, ConfigError, describeConfig, inheritedEnv, loadConfig } from './config.ts';

const SECRETS = {
  DATABASE_URL: 'postgres://tidemark:s3cret-db@db.example/tidemark',
  TEMPORAL_ADDRESS: 'eu.example:7233',
  TEMPORAL_API_KEY: 's3cret-temporal',
  TIDEMARK_API_KEYS: 's3cret-one, s3cret-two',
  OPENAI_API_KEY: 's3cret-openai',
  OPENAI_BASE_URL: 'https://user:s3cret-proxy@llm.example/v1',
  ANTHROPIC_API_KEY: 's3cret-anthropic',
  OPENAI_CODEX_API_KEY: 's3cret-codex',
};

function linesOf(env: NodeJS.ProcessEnv): string[] {
  try {
    loadConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split('\n');
    throw error;
  }
  return [];
}

describe('loadConfig', () => {
  it('serves npm start with nothing set', () => {
    expect(loadConfig({})).toMatchObject({
      home: join(process.cwd(), '.tidemark'),
      host: '127.0.0.1',
      port: 4310,
      databaseUrl: undefined,
      temporal: { namespace: 'default' },
      apiKeys: [],
      providers: { openai: undefined, anthropic: undefined, openaiCodex: undefined },
      model: 'scripted/demo',
      workspaceRoot: join(process.cwd(), '.tidemark/workspaces'),
      engineSlots: 100,
      handoverSeconds: 20,
      controlSlots: 100,
      segmentCacheBytes: 256 * 1024 * 1024,
      retain: { framesDays: undefined, deliveriesDays: undefined },
      fetchAllow: [],
    });
  });

  it('takes an empty variable as not given', () => {
    expect(loadConfig({ TIDEMARK_PORT: '', DATABASE_URL: ' ', OPENAI_API_KEY: '' })).toEqual(loadConfig({}));
  });

  it('names each variable that cannot be used in a line of its own', () => {
    const lines = linesOf({
      TIDEMARK_PORT: '70000',
      TIDEMARK_ENGINE_SLOTS: 'many',
      DATABASE_URL: 'mysql://a:s3cret@b/c',
    });
    expect(lines).toHaveLength(3);
    expect(lines.join()).toContain('TIDEMARK_PORT is "70000", but it must be a port');
    expect(lines.join()).toContain('TIDEMARK_ENGINE_SLOTS is "many", but it must be a whole number');
    expect(lines.join()).toContain('DATABASE_URL must be postgres://');
    expect(lines.join()).not.toContain('s3cret');
  });

  it('says what is wrong with the Temporal settings', () => {
    expect(linesOf({ TEMPORAL_CONFIG_FILE: join(import.meta.dirname, 'config.ts') })).toEqual([
      expect.stringMatching(/^Temporal's connection settings .* cannot be used/),
    ]);
  });

  it('chooses the model by what is configured', () => {
    expect(loadConfig({ OPENAI_API_KEY: 'k' }).model).toBe('openai/gpt-5-mini');
    expect(loadConfig({ OPENAI_API_KEY: 'k', OPENAI_MODEL: 'meta/llama' }).model).toBe('openai/meta/llama');
    expect(loadConfig({ OPENAI_API_KEY: 'k', TIDEMARK_MODEL: 'scripted/demo' }).model).toBe('scripted/demo');
  });

  it('lets a local server do without a key', () => {
    const { providers, model } = loadConfig({ OPENAI_BASE_URL: 'http://127.0.0.1:11434/v1' });
    expect(providers.openai).toMatchObject({
      key: { kind: 'environment', variable: 'OPENAI_API_KEY', isOptional: true },
      baseUrl: 'http://127.0.0.1:11434/v1',
      api: 'completions',
    });
    expect(model).toBe('openai/gpt-5-mini');
  });
});

describe('a provider', () => {
  it('is configured by its key, and the first of them gives the default model', () => {
    const { providers, model } = loadConfig({
      ANTHROPIC_API_KEY: 'k',
      ANTHROPIC_THINKING: '2000',
      OPENAI_CODEX_API_KEY: 'k',
    });
    expect(model).toBe('anthropic/claude-sonnet-5-5');
    expect(providers).toMatchObject({
      openai: undefined,
      anthropic: { key: { kind: 'environment', isOptional: false }, baseUrl: undefined, thinking: 2_000 },
      openaiCodex: { key: { kind: 'environment', variable: 'OPENAI_CODEX_API_KEY' } },
    });
    expect(loadConfig({ ANTHROPIC_API_KEY: 'k', ANTHROPIC_THINKING: 'adaptive' }).providers.anthropic?.thinking).toBe(
      'adaptive',
    );
  });

  it('takes its key from a file where one is named, and a login’s from its token file', () => {
    const { providers } = loadConfig({
      OPENAI_API_KEY: 'k',
      OPENAI_API_KEY_FILE: '/run/secrets/openai',
      OPENAI_API: 'responses',
      OPENAI_CODEX_TOKEN_FILE: '/run/secrets/auth.json',
    });
    expect(providers.openai).toMatchObject({ key: { kind: 'file', path: '/run/secrets/openai' }, api: 'responses' });
    expect(providers.openaiCodex?.key).toMatchObject({ kind: 'oauth', tokenFile: '/run/secrets/auth.json' });
  });

  it('is refused with settings that cannot be used', () => {
    expect(linesOf({ OPENAI_API: 'chat', ANTHROPIC_THINKING: '100' })).toEqual([
      expect.stringContaining('OPENAI_API is "chat", but it must be completions or responses'),
      expect.stringContaining('ANTHROPIC_THINKING is "100", but it must be adaptive, or a number of tokens from 1024'),
    ]);
  });
});

describe('retention', () => {
  it('is a number of days for frames and one for deliveries', () => {
    const env = { TIDEMARK_RETAIN_FRAMES_DAYS: '7', TIDEMARK_RETAIN_DELIVERIES_DAYS: '90' };
    expect(loadConfig(env).retain).toEqual({ framesDays: 7, deliveriesDays: 90 });
    expect(linesOf({ TIDEMARK_RETAIN_FRAMES_DAYS: '0', TIDEMARK_RETAIN_DELIVERIES_DAYS: '1.5' })).toEqual([
      expect.stringContaining('TIDEMARK_RETAIN_FRAMES_DAYS is "0", but it must be a whole number of days'),
      expect.stringContaining('TIDEMARK_RETAIN_DELIVERIES_DAYS is "1.5", but it must be a whole number of days'),
    ]);
  });
});

describe('describeConfig', () => {
  it('shows no secret', () => {
    const shown = JSON.stringify(describeConfig(loadConfig(SECRETS)));
    expect(shown).not.toContain('s3cret');
    expect(shown).toContain('eu.example:7233');
    expect(shown).toContain('"keys":2');
    expect(shown).toContain('postgres://tidemark:***@db.example/tidemark');
  });
});

describe('assertSafeBinding', () => {
  it.each(['127.0.0.1', '127.1.2.3', 'localhost', '::1', '[::1]', '::ffff:127.0.0.1'])(
    'serves %s without a key',
    (host) => {
      expect(() => assertSafeBinding({ host, apiKeys: [] })).not.toThrow();
    },
  );

  it.each(['0.0.0.0', '::', '192.168.1.5', 'example.com'])('refuses %s without a key, and says what to do', (host) => {
    expect(() => assertSafeBinding({ host, apiKeys: [] })).toThrow(
      /set TIDEMARK_API_KEYS .* or TIDEMARK_HOST to 127\.0\.0\.1/,
    );
    expect(() => assertSafeBinding({ host, apiKeys: ['k'] })).not.toThrow();
  });
});

describe('inheritedEnv', () => {
  it('adds, replaces and removes', () => {
    const env = inheritedEnv({ TIDEMARK_TEST_ADDED: 'yes', PATH: undefined });
    expect(env['TIDEMARK_TEST_ADDED']).toBe('yes');
    expect('PATH' in env).toBe(false);
  });
});
