import { readFile } from 'node:fs/promises';
import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** The conditions of an `import` in Node. */
const CONDITIONS: ReadonlySet<string> = new Set(['node', 'import', 'module-sync', 'default']);

/**
 * The address of the module that `import name` would load in the folder of the file `from`: Node itself resolves a package only from
 * the module that imports it.
 *
 * @throws Error that says what is missing: the package, or an entry of it.
 */
export async function packageEntry(name: string, from: string): Promise<string> {
  const file = findPackage(name, from);
  if (file === undefined) throw new Error(`there is no package ${name}; install it beside the configuration`);
  const { exports, main } = JSON.parse(await readFile(file, 'utf8')) as {
    readonly name?: string;
    readonly exports?: unknown;
    readonly main?: string;
  };
  const packageName = name.split('/', name.startsWith('@') ? 2 : 1).join('/');
  const subpath = `.${name.slice(packageName.length)}`;
  const entry = exports === undefined ? (subpath === '.' ? (main ?? 'index.js') : subpath) : targetOf(exports, subpath);
  if (entry === null) throw new Error(`the package ${packageName} exports no ${subpath}`);
  return pathToFileURL(join(dirname(file), entry)).href;
}

function findPackage(name: string, from: string): string | undefined {
  try {
    return findPackageJSON(name, pathToFileURL(from));
  } catch {
    return undefined;
  }
}

/** What `exports` of a package.json gives for a subpath; patterns are not looked at. */
function targetOf(exports: unknown, subpath: string): string | null {
  const hasSubpaths = isObject(exports) && Object.keys(exports).some((key) => key.startsWith('.'));
  if (hasSubpaths) return conditional(exports[subpath]);
  return subpath === '.' ? conditional(exports) : null;
}

function conditional(target: unknown): string | null {
  if (typeof target === 'string') return target;
  if (Array.isArray(target)) return target.map(conditional).find((entry) => entry !== null) ?? null;
  if (!isObject(target)) return null;
  for (const [condition, inner] of Object.entries(target)) {
    const entry = CONDITIONS.has(condition) ? conditional(inner) : null;
    if (entry !== null) return entry;
  }
  return null;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
