import { dirname } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { engineEnv } from './engine-env.ts';

const NOTHING = { passEnv: [], env: {} };

afterEach(() => vi.unstubAllEnvs());

describe('engineEnv', () => {
  it('passes what every program needs, and no secret that nobody named', () => {
    vi.stubEnv('HOME', '/home/someone');
    vi.stubEnv('LC_ALL', 'C');
    vi.stubEnv('https_proxy', 'http://proxy:1');
    vi.stubEnv('DATABASE_URL', 'postgres://u:s3cret@h/d');
    vi.stubEnv('OPENAI_API_KEY', 's3cret');
    vi.stubEnv('TIDEMARK_API_KEYS', 's3cret');
    const env = engineEnv(NOTHING);
    expect(env).toMatchObject({ HOME: '/home/someone', LC_ALL: 'C', https_proxy: 'http://proxy:1' });
    expect(JSON.stringify(env)).not.toContain('s3cret');
  });

  it('passes what is named, but never what is Tidemark’s own', () => {
    vi.stubEnv('OPENAI_API_KEY', 'key');
    vi.stubEnv('TEMPORAL_API_KEY', 's3cret');
    vi.stubEnv('DATABASE_URL', 's3cret');
    const env = engineEnv({ passEnv: ['OPENAI_API_KEY', 'TEMPORAL_API_KEY', 'DATABASE_URL', 'NOT_THERE'], env: {} });
    expect(env['OPENAI_API_KEY']).toBe('key');
    expect(JSON.stringify(env)).not.toContain('s3cret');
    expect(env).not.toHaveProperty('NOT_THERE');
  });

  it('sets what the settings set, then what the driver sets', () => {
    const settings = { passEnv: [], env: { HOME: '/a', DATABASE_URL: 'their-own', MODE: 'settings' } };
    expect(engineEnv(settings, { MODE: 'driver' })).toMatchObject({
      HOME: '/a',
      DATABASE_URL: 'their-own',
      MODE: 'driver',
    });
  });

  it('puts the Node that runs Tidemark first', () => {
    vi.stubEnv('PATH', '/usr/bin');
    expect(engineEnv(NOTHING)['PATH']).toBe(`${dirname(process.execPath)}:/usr/bin`);
    expect(engineEnv({ passEnv: [], env: { PATH: '/opt' } })['PATH']).toBe(`${dirname(process.execPath)}:/opt`);
  });
});
