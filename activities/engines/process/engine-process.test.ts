import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { inheritedEnv } from '../../../infra/config.ts';
import { createLogger } from '../../../infra/log.ts';
import { signal } from './end-processes.ts';
import { killMarked, startEngineProcess, type EngineProcess, type EngineProcessOptions } from './engine-process.ts';
import { hasProcessTable, readProcesses } from './process-table.ts';

const HOST = fileURLToPath(new URL('../../../tests/fixtures/engine-host-main.ts', import.meta.url));
const env = { PATH: inheritedEnv({})['PATH'] ?? '' };
const log = createLogger({ logLevel: 'silent' }, 'test');

/** Prints its pid and that of a child in a session of its own, which ignores SIGTERM; then waits. */
const WITH_ESCAPED_CHILD = `setsid sh -c 'trap "" TERM; echo $$; while :; do sleep 1; done' & echo $$; wait`;

let mark = '';
let folder = '';
let engines: EngineProcess[] = [];

beforeEach(() => {
  mark = randomUUID();
  folder = mkdtempSync(join(tmpdir(), 'engine-process-'));
});

afterEach(async () => {
  await Promise.all(engines.map(async (engine) => await engine.kill()));
  engines = [];
  const left = (await readProcesses()).filter((entry) => entry.mark?.startsWith(mark));
  if (left.length > 0) throw new Error(`left running: ${JSON.stringify(left)}`);
  rmSync(folder, { recursive: true });
});

describe('an engine process', () => {
  it('reads what is written to it and ends with its own code, and what it said last is told', async () => {
    const engine = start(['sh', '-c', 'read -r line; echo "got $line"; echo oh no >&2; exit 3']);
    engine.stdin.write('a line\n');
    expect(await lines(engine.stdout, 1)).toEqual(['got a line']);
    expect(await engine.exited).toEqual({ code: 3, signal: null, stderrTail: 'oh no', overMemory: false });
  });

  it('is interrupted as by Ctrl-C, and what it has started goes on until it is over itself', async () => {
    const engine = start(['sh', '-c', `sleep 60 & trap 'kill -0 $! && echo stopping; exit 1' INT; echo ready; wait`]);
    expect(await lines(engine.stdout, 1)).toEqual(['ready']);
    const last = lines(engine.stdout, 1);
    engine.interrupt();
    expect(await last).toEqual(['stopping']);
    expect(await engine.exited).toMatchObject({ code: 1, signal: null });
    engine.interrupt();
  });

  it('gets the environment that it is given, its mark, and nothing else', async () => {
    const engine = start(['env'], { env: { ...env, GIVEN: 'yes' } });
    const text = (await engine.stdout.toArray()).map(String).join('');
    const names = text
      .trim()
      .split('\n')
      .map((line) => line.slice(0, line.indexOf('=')))
      .toSorted();
    expect(names.filter((name) => name !== 'PWD')).toEqual(['GIVEN', 'PATH', 'TIDEMARK_ENGINE_MARK']);
  });

  it('does not hold the pipe that tells of the worker’s death', async () => {
    const engine = start(['sh', '-c', '(: <&3) 2>/dev/null && echo open || echo closed']);
    expect(await lines(engine.stdout, 1)).toEqual(['closed']);
  });

  it('keeps the end of a long standard error, cut at 8 KiB', async () => {
    const engine = start(['sh', '-c', 'i=0; while [ $i -lt 3000 ]; do echo "line $i" >&2; i=$((i+1)); done']);
    const { stderrTail } = await engine.exited;
    expect(stderrTail.length).toBeLessThanOrEqual(8_192);
    expect(stderrTail.endsWith('line 2999')).toBe(true);
  });

  it.each([
    ['a program that is not there', ['no-such-engine'], 'no-such-engine'],
    ['a file that may not be run', ['./plain'], './plain'],
    ['no command', [], ''],
  ])('is told as not startable for %s', async (_what, command, name) => {
    writeFileSync(join(folder, 'plain'), 'text');
    chmodSync(join(folder, 'plain'), 0o600);
    const engine = start(command);
    engine.stdin.write('nobody reads this');
    const { code, spawnError } = await engine.exited;
    expect(code).toBeNull();
    expect(spawnError).toMatchObject({
      code: 'engine_unavailable',
      message: `there is no program ${name} that may be run`,
    });
    expect(await engine.stdout.toArray()).toEqual([]);
  });

  it('is told as not startable in a folder that is not there', async () => {
    const { spawnError } = await start(['cat'], { cwd: join(folder, 'nowhere') }).exited;
    expect(spawnError?.message).toContain('there is no folder');
  });
});

describe('kill', () => {
  it('ends the engine and what it started, may be called twice, and before the engine is up', async () => {
    const engine = start(['sh', '-c', 'sleep 60 & sleep 60 & echo $$; wait']);
    const first = engine.kill();
    await Promise.all([first, engine.kill()]);
    expect((await engine.exited).signal).toBe('SIGTERM');
  });

  it('lets an engine that handles SIGTERM end in good order', async () => {
    const engine = start(['sh', '-c', 'trap "echo bye; exit 0" TERM; echo up; while :; do sleep 0.05; done']);
    const said = lines(engine.stdout, 2);
    await lines(engine.stdout, 1);
    await engine.kill();
    expect((await engine.exited).code).toBe(0);
    expect(await said).toEqual(['up', 'bye']);
  });

  it('kills what ignores SIGTERM, grandchildren too', async () => {
    const engine = start(['sh', '-c', `trap "" TERM; sh -c 'echo $$; while :; do sleep 1; done' & echo $$; wait`]);
    const pids = await lines(engine.stdout, 2);
    await engine.kill();
    expect(await alive(pids)).toEqual([]);
    expect((await engine.exited).signal).toBe('SIGKILL');
  });

  it.runIf(hasProcessTable)('reaches a child that has left the process group', async () => {
    const engine = start(['sh', '-c', WITH_ESCAPED_CHILD]);
    const pids = await lines(engine.stdout, 2);
    await engine.kill();
    expect(await alive(pids)).toEqual([]);
  });

  it('leaves another engine of the same run alone', async () => {
    const [one, other] = [start(['cat']), start(['cat'])];
    await one.kill();
    other.stdin.write('still here\n');
    expect(await lines(other.stdout, 1)).toEqual(['still here']);
  });
});

describe.runIf(hasProcessTable)('an engine that ends by itself', () => {
  it('takes what it left running with it', async () => {
    const engine = start(['sh', '-c', `setsid sh -c 'echo $$; exec sleep 60' & sleep 60 & read -r _; exit 0`]);
    const pids = await lines(engine.stdout, 1);
    engine.stdin.write('\n');
    expect((await engine.exited).code).toBe(0);
    await vi.waitFor(async () => expect(await alive(pids)).toEqual([]), { timeout: 10_000 });
  });
});

describe.runIf(hasProcessTable)('memory', () => {
  it('over the limit, counted over all processes of the engine, ends it', async () => {
    const hog = 'globalThis.kept = Buffer.alloc(150 * 1024 * 1024, 1); setInterval(() => {}, 1000)';
    const engine = start(['sh', '-c', `"${process.execPath}" -e "${hog}" & wait`], { memoryMb: 100 });
    expect(await engine.exited).toMatchObject({ overMemory: true });
  });
});

describe.runIf(hasProcessTable)('when the worker is killed', () => {
  it('its engine goes, with a child that left the process group and ignores SIGTERM', async () => {
    const { host, pids } = await hostWith(WITH_ESCAPED_CHILD);
    host.kill('SIGKILL');
    await vi.waitFor(async () => expect(await alive(pids)).toEqual([]), { timeout: 20_000, interval: 100 });
    await vi.waitFor(async () => expect(await watchersOf(pids)).toEqual([]), { timeout: 20_000, interval: 100 });
  });

  it('and the watcher too, a new attempt at the run kills what is left', async () => {
    const { host, pids } = await hostWith(WITH_ESCAPED_CHILD);
    const watchers = await watchersOf(pids);
    expect(watchers).toHaveLength(1);
    for (const pid of watchers) signal(pid, 'SIGKILL');
    host.kill('SIGKILL');
    expect(await killMarked(mark)).toBeGreaterThanOrEqual(2);
    expect(await alive(pids)).toEqual([]);
    expect(await killMarked(mark)).toBe(0);
  });
});

function start(command: readonly string[], more: Partial<EngineProcessOptions> = {}): EngineProcess {
  const engine = startEngineProcess({ command, cwd: folder, env, memoryMb: 1_024, mark, log, ...more });
  engines.push(engine);
  return engine;
}

async function hostWith(script: string) {
  const host = spawn(process.execPath, [HOST, mark, 'sh', '-c', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  return { host, pids: await lines(host.stdout, 2) };
}

function lines(stream: Readable, count: number): Promise<string[]> {
  const read: string[] = [];
  return new Promise((resolve, reject) => {
    const reader = createInterface({ input: stream });
    reader.on('line', (line) => {
      read.push(line);
      if (read.length === count) resolve(read);
    });
    reader.on('close', () => reject(new Error(`ended after ${JSON.stringify(read)}`)));
  });
}

/** Of these process ids the ones that are there. */
async function alive(pids: readonly string[]): Promise<number[]> {
  const there = new Set((await readProcesses()).map(({ pid }) => pid));
  return pids.map(Number).filter((pid) => there.has(pid));
}

/** What watches for the worker's death in one of these groups. */
async function watchersOf(groups: readonly string[]): Promise<number[]> {
  const entries = await readProcesses();
  return entries.filter(({ isWatcher, groupId }) => isWatcher && groups.includes(`${groupId}`)).map(({ pid }) => pid);
}
