import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const ROOT = join(import.meta.dirname, '..', '..');
const CACHE = join(ROOT, '.tidemark', 'workflow-bundle');
const BUILDER = 'activities/bundle.ts';
/** All that a bundle is made of. */
const SOURCES = ['contract', 'workflows', BUILDER, 'package-lock.json'];
const KEEP_MS = 3 * 24 * 60 * 60_000;

/**
 * The workflow code as one file for the workers, built once for a state of the sources: it takes seconds, and a worker that
 * is given none builds its own at every start.
 */
export async function cachedWorkflowBundle(signal?: AbortSignal): Promise<string> {
  const bundle = join(CACHE, `${hashOfSources()}.js`);
  if (existsSync(bundle)) return bundle;
  await mkdir(CACHE, { recursive: true });
  const fresh = join(CACHE, `${process.pid}.new.js`);
  const script = `import(process.argv[1]).then((builder) => builder.buildWorkflowBundle(process.argv[2]))`;
  const builder = join(ROOT, BUILDER);
  await promisify(execFile)(process.execPath, ['-e', script, builder, fresh], { cwd: ROOT, ...(signal && { signal }) });
  await removeOld();
  await rename(fresh, bundle);
  return bundle;
}

function hashOfSources(): string {
  const hash = createHash('sha256');
  for (const source of SOURCES) {
    for (const file of filesUnder(join(ROOT, source))) hash.update(file.slice(ROOT.length)).update(readFileSync(file));
  }
  return hash.digest('hex').slice(0, 16);
}

function filesUnder(path: string): string[] {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats?.isDirectory()) return stats ? [path] : [];
  const names = readdirSync(path, { recursive: true, encoding: 'utf8' }).toSorted((a, b) => (a < b ? -1 : 1));
  return names.map((name) => join(path, name)).filter((file) => statSync(file).isFile());
}

/** Bundles of the last days stay, since a process of another checkout state may be starting from one. */
async function removeOld(): Promise<void> {
  const old = readdirSync(CACHE)
    .map((name) => join(CACHE, name))
    .filter((file) => Date.now() - statSync(file).mtimeMs > KEEP_MS);
  await Promise.all(old.map((file) => rm(file, { force: true })));
}
