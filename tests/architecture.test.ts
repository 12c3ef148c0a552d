import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

type SourceFile = { readonly path: string; readonly text: string };

const ROOT = join(import.meta.dirname, '..');
const FOLDERS = ['contract', 'workflows', 'activities', 'api', 'infra', 'clients'];

/**
 * The dependency rule (ARCHITECTURE.md): what a folder may never import, by the folder or the package that an import leads
 * to. `types` may be imported as types.
 */
const NEVER: Readonly<Record<string, { readonly imports: RegExp; readonly types?: RegExp }>> = {
  contract: { imports: /^(?!contract\/|zod$)/ },
  workflows: {
    imports: /^(activities|api|infra|clients)\/|^node:|^(pg|express|@temporalio\/(client|worker|activity))$/,
    types: /^activities\//,
  },
  activities: { imports: /^(api|workflows|clients)\/|^(pg|express)$/ },
  api: { imports: /^(activities|workflows|clients)\/|^(pg|@temporalio\/(worker|activity|workflow))$/ },
  infra: { imports: /^(activities|workflows|api|clients)\/|^express$/ },
  clients: { imports: /^(activities|workflows|api|infra)\// },
};

const IMPORT =
  /\b(?:import|export)\s+(type\s+)?[^'"`;()]*?\bfrom\s*['"]([^'"]+)['"]|\bimport\s*\(?\s*['"]([^'"]+)['"]/g;
const SQL =
  /['"`]\s*(?:select\s[^'"`]*\sfrom\s|select\s+\w+\(|insert\s+into\s|update\s+\w+\s+set\s|delete\s+from\s|with\s+\w+\s+as\s*\(|create\s+(?:table|index|database)\s|alter\s+table\s|drop\s+(?:table|database)\s|(?:listen|notify)\s+\w+['"`])/i;

describe('the dependency rule', () => {
  it('is kept by every file', () => {
    const faults = sources().flatMap(forbiddenImports);
    expect(faults).toEqual([]);
  });

  it.each([
    ['contract/x.ts', `import { readFile } from 'node:fs/promises';`],
    ['contract/x.ts', `import { y } from '../infra/ids.ts';`],
    ['contract/encoders/x.ts', `import type { Y } from '../../api/y.ts';`],
    ['contract/x.ts', `export * from 'uuid';`],
    ['workflows/x.ts', `import { sealRun } from '../activities/seal.ts';`],
    ['workflows/x.ts', `import {\n  Client,\n} from '@temporalio/client';`],
    ['workflows/x.ts', `import 'node:fs';`],
    ['activities/engines/x.ts', `const y = await import('../../api/y.ts');`],
    ['activities/x.ts', `import pg from 'pg';`],
    ['activities/x.ts', `import type { Run } from '../workflows/agent-run.ts';`],
    ['api/routes/x.ts', `export { y } from '../../activities/y.ts';`],
    ['infra/postgres/x.ts', `import { z } from '../../api/y.ts';`],
    ['infra/x.ts', `import express from 'express';`],
  ])('finds the fault planted in %s: %s', (path, text) => {
    expect(forbiddenImports({ path, text })).toHaveLength(1);
  });

  it.each([
    ['contract/encoders/x.ts', `import { z } from 'zod';\nimport { y } from '../canonical.ts';`],
    ['workflows/x.ts', `import type { Activities } from '../activities/index.ts';`],
    ['activities/x.ts', `import { y } from '../infra/postgres/y.ts';`],
    ['activities/x.ts', `// what api/ does: import { y } from '../api/y.ts'`],
  ])('lets %s do what it may: %s', (path, text) => {
    expect(forbiddenImports({ path, text })).toEqual([]);
  });
});

/** A process of the server reads it once; the command line is a program of its own, which may not import `infra/`. */
const ENVIRONMENT_READERS = new Set(['infra/config.ts', 'clients/cli/environment.ts']);

describe('what is in one place', () => {
  it('is SQL, under infra/postgres', () => {
    const faults = sources().filter((file) => !file.path.startsWith('infra/postgres/') && hasSql(file));
    expect(faults.map(({ path }) => path)).toEqual([]);
  });

  it('is the environment, in infra/config.ts and, for the command line, clients/cli/environment.ts', () => {
    const faults = sources().filter((file) => !ENVIRONMENT_READERS.has(file.path) && readsEnvironment(file));
    expect(faults.map(({ path }) => path)).toEqual([]);
  });

  it.each([
    "pool.query('select run_id from run where thread_id = $1')",
    'pool.query(`\n    insert into delivery (thread_id) values ($1)`)',
    'client.query("LISTEN tidemark")',
    "query('update run set status = $1')",
  ])('finds planted SQL: %s', (text) => {
    expect(hasSql({ path: 'api/x.ts', text })).toBe(true);
  });

  it('finds a planted reading of the environment, and no mention of one', () => {
    expect(readsEnvironment({ path: 'api/x.ts', text: "const port = process.env['PORT'];" })).toBe(true);
    expect(readsEnvironment({ path: 'api/x.ts', text: "import { cwd, env } from 'node:process';" })).toBe(true);
    expect(readsEnvironment({ path: 'api/x.ts', text: '// process.env is read in infra/config.ts' })).toBe(false);
  });

  it('is not confused by prose', () => {
    expect(hasSql({ path: 'api/x.ts', text: "const hint = 'update the run, or select another';" })).toBe(false);
  });
});

function forbiddenImports(file: SourceFile): string[] {
  const rule = NEVER[file.path.split('/')[0] ?? ''];
  if (rule === undefined) return [];
  return importsOf(file)
    .filter(({ target, isType }) => rule.imports.test(target) && !(isType && rule.types?.test(target)))
    .map(({ target }) => `${file.path} imports ${target}`);
}

function importsOf(file: SourceFile): { target: string; isType: boolean }[] {
  return [...withoutComments(file.text).matchAll(IMPORT)].map(([, type, from, bare]) => ({
    target: resolved(file.path, from ?? bare ?? ''),
    isType: type !== undefined,
  }));
}

/** A relative import as a path from the root, a package as its name. */
function resolved(from: string, specifier: string): string {
  return specifier.startsWith('.') ? join(from, '..', specifier).replaceAll('\\', '/') : specifier;
}

function hasSql({ text }: SourceFile): boolean {
  return SQL.test(withoutComments(text));
}

function readsEnvironment({ text }: SourceFile): boolean {
  return /\bprocess\.env\b|\{[^}]*\benv\b[^}]*\}\s*from 'node:process'/.test(withoutComments(text));
}

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, '');
}

/** The source that the rules are about: what only tests use may import and do what it needs. */
function sources(): SourceFile[] {
  const paths = FOLDERS.flatMap((folder) => filesUnder(folder));
  const code = paths.filter((path) => path.endsWith('.ts') && !/(\.(test|testsuite)|-testkit)\.ts$/.test(path));
  return code.map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }));
}

function filesUnder(folder: string): string[] {
  try {
    const names = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' });
    return names.map((name) => `${folder}/${name.replaceAll('\\', '/')}`);
  } catch {
    return []; // not there yet
  }
}
