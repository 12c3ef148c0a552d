import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, delimiter, dirname, join } from 'node:path';
import { takeLock } from '../lock.mjs';

/** What is fetched when the machine's Node is too old to run TypeScript. */
const RUNTIME_VERSION = '26.10.0';
const INSTALL_WAIT_MS = 10 * 60_000;

/** An installation that could not be done; the message says what to do. */
export class InstallError extends Error {}

/**
 * The Node to go on with: this one if it runs TypeScript as it is, otherwise npm's `node` package under
 * `.tidemark/runtime`, installed when it is not there.
 *
 * @param {string} root
 * @returns {Promise<string>}
 */
export async function ensureNode(root) {
  if (runsTypeScript(process.versions.node)) return process.execPath;
  const home = join(root, '.tidemark', 'runtime');
  const node = join(home, 'node_modules', 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
  if (works(node)) return node;
  await underLock(root, () => {
    if (works(node)) return;
    say(`Node ${process.versions.node} is too old for Tidemark (22.18 or newer): installing Node ${RUNTIME_VERSION}`);
    mkdirSync(home, { recursive: true });
    writeFileSync(join(home, 'package.json'), '{ "private": true, "allowScripts": { "node": true } }\n');
    const args = ['install', '--no-package-lock', '--include=optional', `node@${RUNTIME_VERSION}`];
    if (npm(args, { cwd: home, node: process.execPath }) === 0 && works(node)) return;
    throw new InstallError(
      'Node could not be installed from npm. Install Node 22.18 or newer yourself and start again.',
    );
  });
  return node;
}

/**
 * Installs the dependencies when they are missing or are not those of the lock file.
 *
 * @param {string} root
 * @param {string} node
 */
export async function ensureDependencies(root, node) {
  if (isInstalled(root)) return;
  await underLock(root, () => {
    if (isInstalled(root)) return;
    say('Installing dependencies');
    const command = existsSync(join(root, 'package-lock.json')) ? 'ci' : 'install';
    if (npm([command, '--include=dev'], { cwd: root, node }) === 0) return;
    throw new InstallError(`npm ${command} failed: see its output above.`);
  });
}

/** @param {string} version */
export function runsTypeScript(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major === 22) return minor >= 18;
  if (major === 23) return minor >= 6;
  return major > 23;
}

/**
 * Compares what npm says it installed (it writes that file last) with the lock file. A package for another platform is in
 * the lock file alone.
 *
 * @param {string} root
 */
export function isInstalled(root) {
  const wanted = readJson(join(root, 'package-lock.json'));
  const present = readJson(join(root, 'node_modules', '.package-lock.json'));
  if (present === null) return false;
  return Object.entries(wanted?.packages ?? {}).every(
    ([path, entry]) => path === '' || entry.optional === true || present.packages[path]?.version === entry.version,
  );
}

/**
 * The environment in which `node` comes first.
 *
 * @param {string} node
 */
export function envWithNode(node) {
  return { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env['PATH'] ?? ''}` };
}

/**
 * @param {string} root
 * @param {() => void} work
 */
async function underLock(root, work) {
  mkdirSync(join(root, '.tidemark'), { recursive: true });
  const lock = await takeLock(join(root, '.tidemark', 'install.lock'), { waitMs: INSTALL_WAIT_MS });
  if ('heldBy' in lock) {
    throw new InstallError(`Another start (process ${lock.heldBy}) has been installing for 10 minutes: stop it first.`);
  }
  try {
    work();
  } finally {
    lock.release();
  }
}

/**
 * @param {readonly string[]} args
 * @param {{ cwd: string, node: string }} options
 */
function npm(args, { cwd, node }) {
  const all = [...args, '--no-audit', '--no-fund'];
  const script = process.env['npm_execpath'] ?? '';
  const isScript = /^npm(-cli)?\.c?js$/.test(basename(script)) && existsSync(script);
  const [command, parameters] = isScript ? [node, [script, ...all]] : ['npm', all];
  // npm's own progress goes to standard error, so that a command's output stays its own
  const { status, error } = spawnSync(command, parameters, {
    cwd,
    env: envWithNode(node),
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32' && !isScript,
  });
  if (error) say(`npm could not be started: ${error.message}`);
  return status ?? 1;
}

/** @param {string} node */
function works(node) {
  if (!existsSync(node)) return false;
  const { status, stdout } = spawnSync(node, ['--version'], { encoding: 'utf8' });
  return status === 0 && runsTypeScript(stdout.trim().slice(1));
}

/** @param {string} file */
function readJson(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return null;
  }
}

/** @param {string} line */
function say(line) {
  process.stderr.write(`${line}\n`);
}
