import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inheritedEnv } from '../../infra/config.ts';
import { processStamp } from '../../infra/process-stamp.mjs';
import { freePort } from '../../infra/dev/ports.ts';
import { Rest } from '../fixtures/rest.ts';

type Urls = { gateway: string; database_url: string; temporal_address: string; pids: Record<string, number> };
type Start = { process: ChildProcess; output: () => string; ended: Promise<number | null> };

const LAUNCHER = join(import.meta.dirname, '../../infra/dev/launch.mjs');

let home: string;
let port: number;
let env: Record<string, string | undefined>;
const starts: Start[] = [];

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'tidemark-start-'));
  port = await freePort();
  env = {
    TIDEMARK_HOME: home,
    TIDEMARK_PORT: String(port),
    TIDEMARK_POSTGRES_PORT: '0',
    TIDEMARK_TEMPORAL_PORT: '0',
    TIDEMARK_TEMPORAL_UI_PORT: '0',
    DATABASE_URL: undefined,
    TEMPORAL_ADDRESS: undefined,
    OPENAI_API_KEY: undefined,
    OPENAI_BASE_URL: undefined,
    ANTHROPIC_API_KEY: undefined,
  };
});
afterAll(async () => {
  for (const { process: launcher } of starts) launcher.kill('SIGTERM');
  await Promise.all(starts.map(async ({ ended }) => ended));
  await rm(home, { recursive: true, force: true });
});

describe('npm start', { timeout: 120_000 }, () => {
  it('brings everything, and finds it again after a stop in good order', async () => {
    const first = start();
    const { gateway, pids } = await ready(first);
    expect(gateway).toBe(`http://127.0.0.1:${port}`);
    expect(first.output()).toContain(`curl -s ${gateway}/v1/runs`);
    expect(first.output()).toContain('scripted/demo: no real model');
    const run = await new Rest(gateway).startRun('kept over a restart');
    first.process.kill('SIGINT');
    expect(await first.ended).toBe(0);
    expect(running(pids)).toEqual([]);

    const second = start();
    const again = await ready(second);
    expect(await new Rest(again.gateway).run(run.run_id)).toMatchObject({ thread_id: run.thread_id });
  });

  it('says that it is already running, and that a port is in use', async () => {
    const same = start();
    expect(await same.ended).toBe(1);
    expect(same.output().trim()).toMatch(
      new RegExp(`^Tidemark is already running on .*http://127.0.0.1:${port}.*TIDEMARK_HOME`),
    );
    const other = start({ TIDEMARK_HOME: join(home, 'other') });
    expect(await other.ended).toBe(1);
    expect(other.output().trim()).toMatch(new RegExp(`^The gateway cannot start: port ${port} .*TIDEMARK_PORT`));
  });

  it('says which server that it was given does not answer', async () => {
    const noDatabase = start({
      TIDEMARK_HOME: join(home, 'other'),
      TIDEMARK_PORT: '0',
      DATABASE_URL: 'postgres://a:s3cret@127.0.0.1:1/x',
    });
    expect(await noDatabase.ended).toBe(1);
    expect(noDatabase.output().trim()).toMatch(/^DATABASE_URL: no answer from postgres:\/\/a:\*\*\*@127\.0\.0\.1:1\/x/);
  });

  it.each(['gateway', 'worker', 'temporal', 'postgres'])('starts the %s again when it is killed', async (name) => {
    const before = (await urls()).pids[name] ?? 0;
    process.kill(before, 'SIGKILL');
    await expect.poll(async () => (await urls()).pids[name], { timeout: 30_000 }).not.toBe(before);
    const { gateway } = await urls();
    await expect
      .poll(async () => (await fetch(`${gateway}/readyz`).catch(() => null))?.status, { timeout: 20_000 })
      .toBe(200);
  });

  it('leaves nothing running when it is killed itself, and starts again', async () => {
    const { pids } = await urls();
    const lock = JSON.parse(await readFile(join(home, 'up.lock'), 'utf8')) as { pid: number };
    process.kill(lock.pid, 'SIGKILL');
    await starts[1]?.ended;
    const next = start();
    const after = await ready(next, 'Tidemark is ready');
    expect(running(pids)).toEqual([]);
    expect(await new Rest(after.gateway).startRun('after a crash')).toMatchObject({ engine: 'builtin' });
  });

  it('stops everything when its launcher is killed', async () => {
    const { pids } = await urls();
    starts.at(-1)?.process.kill('SIGKILL');
    await expect.poll(() => running(pids), { timeout: 20_000 }).toEqual([]);
  });
});

function start(changes: Record<string, string> = {}): Start {
  const launcher = spawn(process.execPath, [LAUNCHER, 'start'], {
    env: inheritedEnv({ ...env, ...changes }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const output of [launcher.stdout, launcher.stderr])
    output.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const ended = once(launcher, 'close').then(([code]) => code as number | null);
  const started = { process: launcher, output: () => text, ended };
  starts.push(started);
  return started;
}

async function ready(started: Start, said = 'Try:'): Promise<Urls> {
  await expect.poll(started.output, { timeout: 60_000 }).toContain(said);
  return urls();
}

async function urls(): Promise<Urls> {
  return JSON.parse(await readFile(join(home, 'urls.json'), 'utf8')) as Urls;
}

function running(pids: Record<string, number>): string[] {
  return Object.keys(pids).filter((name) => processStamp(pids[name] ?? 0) !== null);
}
