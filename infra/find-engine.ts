import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { claudeCodePaths, claudeCodeVersion } from './claude-code.ts';
import { hostEnvironment, type Config } from './config.ts';
import { ENGINE_PACKAGES, packageOf, type EnginePackageName } from './engine-packages.ts';
import { isHosted, type EngineSettings } from './engine-settings.ts';
import { findExecutable } from './executable.ts';

/** Whether an engine can be started on this machine, and by what. */
export interface FoundEngine {
  readonly installed: boolean;
  /** Its program, or its module; null for a service elsewhere, and for what is not there. */
  readonly path: string | null;
  /** Null when nobody can say without starting it. */
  readonly version: string | null;
  /** Null when it is installed. */
  readonly howToInstall: string | null;
}

/**
 * Finds what an engine's settings start: the command that they give, else the package under `<home>/engines`, else a program of
 * its name on PATH.
 */
export function findEngine({ home }: Pick<Config, 'home'>, settings: EngineSettings): FoundEngine {
  if (settings.kind === 'lifecycle' || isHosted(settings)) return findModule(settings);
  const name = packageOf(settings);
  if (settings.command !== undefined) return findCommand(settings.command[0] ?? '');
  if (name === null) throw new Error('an engine without a preset has a command');
  const { programs, version, bin } = settings.kind === 'claude' ? claudeCode(home) : packaged(home, name);
  const own = programs.map(onPath).find((path) => path !== null);
  if (own !== undefined) return found(own, version);
  const other = onPath(bin);
  return other === null ? missing(`npm run engines -- install ${name}`) : found(other, null);
}

/** The folder in which a package is installed. */
export function engineFolder(home: string, name: EnginePackageName): string {
  return join(home, 'engines', name);
}

/** The version of an installed package; null when it is not installed. */
export function installedVersion(home: string, name: EnginePackageName): string | null {
  const file = join(modulesOf(home, name), ENGINE_PACKAGES[name].package, 'package.json');
  if (!existsSync(file)) return null;
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}

/** What a package brings: where it may lie, its version there, and its name on PATH. */
interface Packaged {
  readonly programs: readonly string[];
  readonly version: string | null;
  readonly bin: string;
}

function packaged(home: string, name: EnginePackageName): Packaged {
  const { bin } = ENGINE_PACKAGES[name];
  return { programs: [join(modulesOf(home, name), '.bin', bin)], version: installedVersion(home, name), bin };
}

/** The program that the package `claude` adapts, without the adapter. */
function claudeCode(home: string): Packaged {
  const modules = modulesOf(home, 'claude');
  return { programs: claudeCodePaths(modules), version: claudeCodeVersion(modules), bin: 'claude' };
}

function modulesOf(home: string, name: EnginePackageName): string {
  return join(engineFolder(home, name), 'node_modules');
}

function findModule({ module, url }: { module?: string | undefined; url?: string | undefined }): FoundEngine {
  if (url !== undefined || module === undefined)
    return { installed: true, path: null, version: null, howToInstall: null };
  return existsSync(module)
    ? found(module, null)
    : missing(`Write the module ${module}, or correct it in the config file.`);
}

function findCommand(program: string): FoundEngine {
  const path = onPath(program);
  return path === null ? missing(`Install ${program}, or correct its command in the config file.`) : found(path, null);
}

/** As the engine's own process will look: the Node that runs Tidemark comes first. */
function onPath(program: string): string | null {
  const path = [dirname(process.execPath), hostEnvironment()['PATH'] ?? ''].join(':');
  return findExecutable(program, { path, cwd: process.cwd() });
}

function found(path: string, version: string | null): FoundEngine {
  return { installed: true, path, version, howToInstall: null };
}

function missing(howToInstall: string): FoundEngine {
  return { installed: false, path: null, version: null, howToInstall };
}
