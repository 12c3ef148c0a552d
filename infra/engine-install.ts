import { spawnSync } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { inheritedEnv } from './config.ts';
import { ENGINE_PACKAGES, type EnginePackageName } from './engine-packages.ts';
import { engineFolder } from './find-engine.ts';

/**
 * Installs an engine's pinned package under `<home>/engines` with npm; says whether that went well. npm's own words go to
 * standard error.
 *
 * **Contract:** what was there stays until the new one is complete. No installation script runs, but the package's own where its
 * program is not there without it.
 */
export function installEngine(home: string, name: EnginePackageName): boolean {
  const { package: wanted, version, needsScript } = ENGINE_PACKAGES[name];
  const folder = engineFolder(home, name);
  const fresh = `${folder}.new`;
  rmSync(fresh, { recursive: true, force: true });
  mkdirSync(fresh, { recursive: true });
  writeFileSync(
    join(fresh, 'package.json'),
    JSON.stringify({ private: true, allowScripts: { [wanted]: needsScript } }),
  );
  const quiet = ['--no-audit', '--no-fund'];
  const done =
    npm(fresh, ['install', '--ignore-scripts', '--no-package-lock', ...quiet, `${wanted}@${version}`]) &&
    (!needsScript || npm(fresh, ['rebuild', '--ignore-scripts=false', wanted]));
  if (done) {
    removeEngine(home, name);
    renameSync(fresh, folder);
  } else {
    rmSync(fresh, { recursive: true, force: true });
  }
  return done;
}

export function removeEngine(home: string, name: EnginePackageName): void {
  rmSync(engineFolder(home, name), { recursive: true, force: true });
}

function npm(cwd: string, args: readonly string[]): boolean {
  const path = [dirname(process.execPath), inheritedEnv({})['PATH'] ?? ''].join(delimiter);
  // what `npm run` sets for its own folder would lead npm to that one
  const own = Object.keys(inheritedEnv({})).filter((key) =>
    /^npm_(config_(local_)?prefix|package_|lifecycle_)/.test(key),
  );
  const env = inheritedEnv({ ...Object.fromEntries(own.map((key) => [key, undefined])), PATH: path });
  return spawnSync('npm', args, { cwd, env, stdio: ['ignore', 2, 2] }).status === 0;
}
