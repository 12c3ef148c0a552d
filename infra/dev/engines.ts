// `npm run engines -- list | install <name…> | remove <name…>`: the engines that have a loop of their own.
import { ConfigError, loadConfig } from '../config.ts';
import { installEngine, removeEngine } from '../engine-install.ts';
import { ENGINE_PACKAGES, packageOf, type EnginePackageName } from '../engine-packages.ts';
import { findEngine, installedVersion } from '../find-engine.ts';
import { loadTidemarkConfig } from '../tidemark-config.ts';

const USAGE = `Usage: npm run engines -- list | install <name…> | remove <name…>
Names: ${Object.keys(ENGINE_PACKAGES).join(', ')}`;

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}

async function main([verb, ...names]: readonly string[]): Promise<number> {
  const { home, ...config } = loadConfig();
  if (verb === 'list' && names.length === 0) return await list(home, config);
  const unknown = names.filter((name) => !isPackage(name));
  if ((verb !== 'install' && verb !== 'remove') || names.length === 0 || unknown.length > 0) {
    console.error(unknown.length > 0 ? `There is no engine ${unknown.join(', ')} to ${verb}.\n${USAGE}` : USAGE);
    return 2;
  }
  const failed = names.filter(isPackage).filter((name) => !change(verb, home, name));
  return failed.length === 0 ? 0 : 1;
}

/** What a run may name, and whether it is there. */
async function list(home: string, config: Parameters<typeof loadTidemarkConfig>[0]): Promise<number> {
  for (const [name, settings] of (await loadTidemarkConfig(config)).engines) {
    const { installed, path, version, howToInstall } = findEngine({ home }, settings);
    const about = installed
      ? `installed${version === null ? '' : ` ${version}`}  ${path ?? ''}`
      : `missing    ${howToInstall}`;
    console.log(`${name.padEnd(16)} ${settings.kind.padEnd(10)} ${about}${sizeOf(packageOf(settings), installed)}`);
  }
  return 0;
}

function sizeOf(name: EnginePackageName | null, installed: boolean): string {
  return name === null || installed ? '' : `  (about ${String(ENGINE_PACKAGES[name].sizeMb)} MB)`;
}

function change(verb: 'install' | 'remove', home: string, name: EnginePackageName): boolean {
  if (verb === 'remove') {
    removeEngine(home, name);
    console.log(`${name} is removed.`);
    return true;
  }
  const { package: wanted, version, sizeMb } = ENGINE_PACKAGES[name];
  if (installedVersion(home, name) === version) {
    console.log(`${name} ${version} is installed.`);
    return true;
  }
  console.log(`Installing ${wanted}@${version}, about ${String(sizeMb)} MB.`);
  const done = installEngine(home, name);
  if (done) console.log(`${name} ${version} is installed.`);
  else console.error(`${name} could not be installed: npm says why above.`);
  return done;
}

function isPackage(name: string): name is EnginePackageName {
  return Object.hasOwn(ENGINE_PACKAGES, name);
}
