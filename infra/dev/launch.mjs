// What every npm script goes through, in plain JavaScript for any Node from 18 on: it installs what is missing, finds a Node
// that runs TypeScript, and hands over to the command.
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { endOfNpm } from './npm-watch.mjs';
import { ensureDependencies, ensureNode, envWithNode, InstallError } from './install.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const tool = (/** @type {string[]} */ ...path) => join(root, 'node_modules', ...path);
const vitest = [tool('vitest', 'vitest.mjs'), 'run'];

/** @type {Record<string, readonly string[]>} */
const COMMANDS = {
  start: ['infra/dev/up.ts'],
  gateway: ['api/server.ts'],
  worker: ['activities/worker.ts'],
  outbox: ['infra/dev/outbox.ts'],
  chat: ['clients/cli/main.ts', 'chat'],
  tidemark: ['clients/cli/main.ts'],
  test: vitest,
  bench: ['bench/main.ts'],
  engines: ['infra/dev/engines.ts'],
};

/** Tried by `test:engines`: packages of half a gigabyte each, which `test` leaves out. */
const TRIED_ENGINES = ['codex', 'opencode', 'claude', 'gemini', 'pi'];

/** What needs more than a script. @type {Record<string, (node: string) => Promise<number>>} */
const PROCEDURES = { check, 'test:engines': testEngines };

/** What `check` runs before the tests, in this order; the tests are not run when one of these fails. */
const CHECKS = {
  format: [tool('oxfmt', 'bin', 'oxfmt'), '--check', '.'],
  lint: [tool('oxlint', 'bin', 'oxlint')],
  types: [tool('typescript', 'bin', 'tsc'), '-p', '.'],
  'unused code': [tool('knip', 'bin', 'knip.js')],
};

const npmEnded = endOfNpm();
const [command = '', ...args] = process.argv.slice(2);
try {
  process.exitCode = await main();
} catch (error) {
  if (!(error instanceof InstallError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}

async function main() {
  const script = COMMANDS[command];
  const procedure = PROCEDURES[command];
  if (script === undefined && procedure === undefined) {
    const names = [...Object.keys(COMMANDS), ...Object.keys(PROCEDURES)];
    process.stderr.write(`Usage: node infra/dev/launch.mjs ${names.join(' | ')}\n`);
    return 2;
  }
  const node = await ensureNode(root);
  await ensureDependencies(root, node);
  return procedure === undefined ? run(node, [...(script ?? []), ...args]) : procedure(node);
}

/** @param {string} node */
async function testEngines(node) {
  const installed = await run(node, ['infra/dev/engines.ts', 'install', ...TRIED_ENGINES]);
  return installed === 0 ? run(node, [...vitest, '--config', 'vitest.engines.config.ts', ...args]) : installed;
}

/** @param {string} node */
async function check(node) {
  const failed = [];
  for (const [name, script] of Object.entries(CHECKS)) {
    process.stdout.write(`\n== ${name}\n`);
    if ((await run(node, script)) !== 0) failed.push(name);
  }
  if (failed.length > 0) {
    process.stdout.write(`\nFailed: ${failed.join(', ')}. The tests were not run.\n`);
    return 1;
  }
  const counts = join(root, '.tidemark', 'check-counts.json');
  rmSync(counts, { force: true });
  process.stdout.write('\n== tests\n');
  const tests = await run(node, [...vitest, ...args], { TIDEMARK_TEST_COUNTS: counts });
  if (args.length > 0) return tests;
  // by itself: its faults are timed, and it needs the machine as much as they do
  process.stdout.write('\n== storm\n');
  const storm = await run(node, [...vitest, 'tests/crash/storm.test.ts'], {
    TIDEMARK_TEST_COUNTS: counts,
    TIDEMARK_CRASH_STORM: process.env['TIDEMARK_CRASH_STORM'] ?? 'short',
    TIDEMARK_CRASH_SEED: process.env['TIDEMARK_CRASH_SEED'] ?? '1',
  });
  return tests === 0 ? storm : tests;
}

/**
 * Runs a script to its end, as if it were this process: its output, the signals that it is sent, its exit code. The IPC
 * channel tells `npm start` when this process is gone.
 *
 * @param {string} node
 * @param {readonly string[]} script
 * @param {Readonly<Record<string, string>>} [more] of the environment
 * @returns {Promise<number>}
 */
function run(node, script, more = {}) {
  const withIpc = command === 'start';
  const child = spawn(node, script, {
    cwd: root,
    // every process that is started parses the same files
    env: { NODE_COMPILE_CACHE: join(root, '.tidemark', 'compile-cache'), ...envWithNode(node), ...more },
    stdio: withIpc ? ['inherit', 'inherit', 'inherit', 'ipc'] : 'inherit',
  });
  /** @type {NodeJS.Signals[]} */
  const signals = ['SIGTERM', 'SIGHUP', 'SIGINT'];
  const forward = (/** @type {NodeJS.Signals} */ signal) => {
    // a terminal's Ctrl-C reaches the child by itself
    if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
  };
  for (const signal of signals) process.on(signal, forward);
  const stop = () => child.kill('SIGTERM');
  if (npmEnded.aborted) stop();
  npmEnded.addEventListener('abort', stop);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      for (const name of signals) process.off(name, forward);
      npmEnded.removeEventListener('abort', stop);
      resolve(code ?? (signal === 'SIGINT' ? 130 : signal === 'SIGTERM' ? 143 : 1));
    });
  });
}
