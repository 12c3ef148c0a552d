import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { textOf } from '../../../../contract/agent-messages.ts';
import { hasProcessTable, readProcesses } from '../../process/process-table.ts';
import { shell } from './shell.ts';
import type { ToolLimits } from './tool.ts';
import { toolContext } from './tool-testkit.ts';

let workspace = '';
let mark = '';
let said: string[] = [];

beforeEach(async () => {
  workspace = await realpath(await mkdtemp(join(tmpdir(), 'tidemark-shell-')));
  mark = randomUUID();
  said = [];
});
afterEach(async () => {
  vi.unstubAllEnvs();
  const running = await left();
  if (running.length > 0) throw new Error(`left running: ${running.join(', ')}`);
  await rm(workspace, { recursive: true, force: true });
});

interface Given {
  readonly cwd?: string;
  readonly timeout_seconds?: number;
  readonly limits?: Partial<ToolLimits>;
  readonly signal?: AbortSignal;
}

async function run(command: string, { limits = {}, signal, ...more }: Given = {}) {
  const context = toolContext({ workspace, mark, limits, said, ...(signal === undefined ? {} : { signal }) });
  const { content, ...rest } = await shell.execute({ command, ...more }, context);
  return { text: textOf(content), ...rest };
}

/** What still runs of this test's commands. */
async function left(): Promise<number[]> {
  const entries = await readProcesses();
  return entries.filter((entry) => !entry.isWatcher && (entry.mark?.startsWith(mark) ?? false)).map(({ pid }) => pid);
}

async function untilPrinted(text: string): Promise<void> {
  await vi.waitFor(() => expect(said.join('')).toContain(text), { timeout: 20_000 });
}

describe('a command', () => {
  it('gives its exit code and both of its outputs, in their order', async () => {
    expect(await run('echo one; echo two >&2; pwd')).toEqual({
      text: `exit code 0\none\ntwo\n${workspace}\n`,
      isError: false,
      details: { exitCode: 0, signal: null },
    });
  });

  it('that fails is an error with its code, that ends by a signal with its name', async () => {
    expect(await run('echo no such thing; exit 3')).toMatchObject({
      text: 'error: exit code 3\nno such thing\n',
      isError: true,
      details: { exitCode: 3 },
    });
    expect(await run('kill -9 $$')).toMatchObject({ text: 'error: killed by SIGKILL\n(it printed nothing)' });
    expect((await run('if then')).text).toMatch(/^error: exit code 2\n/);
  });

  it('runs in the folder that is named', async () => {
    await mkdir(join(workspace, 'inner'));
    expect((await run('pwd', { cwd: 'inner' })).text).toBe(`exit code 0\n${workspace}/inner\n`);
    expect((await run('pwd', { cwd: 'nowhere' })).text).toBe(
      'error: nowhere does not exist; list_files shows what does',
    );
    await run('echo x > file');
    expect((await run('pwd', { cwd: 'file' })).text).toBe('error: file is no folder; name one as cwd');
  });

  it('has no input, and does not wait for one', async () => {
    expect((await run('cat; read -r line || echo none')).text).toBe('exit code 0\nnone\n');
  });

  it('gets what every program needs, and no key of the worker', async () => {
    vi.stubEnv('OPENAI_API_KEY', 'sk-secret');
    vi.stubEnv('DATABASE_URL', 'postgres://u:secret@h/d');
    vi.stubEnv('TIDEMARK_API_KEYS', 'secret');
    vi.stubEnv('HOME', '/home/someone');
    const { text } = await run('env');
    expect(text).toContain('HOME=/home/someone\n');
    expect(text).toMatch(/^PATH=/m);
    expect(text).not.toContain('secret');
  });

  it('may not take longer than is allowed, whatever the model wishes', async () => {
    expect((await run('true', { timeout_seconds: 601 })).text).toBe(
      'error: timeout_seconds may be at most 600; split the work into several commands',
    );
  });
});

describe('an output', () => {
  it('that is long is shown by its beginning and its end, and kept whole for a person', async () => {
    const limits = { shellChars: 1_000 };
    const { text, output } = await run('seq 1 5000', { limits });
    const whole = Array.from({ length: 5_000 }, (_, i) => `${String(i + 1)}\n`).join('');
    expect(text.length).toBeLessThan(1_100);
    expect(text).toMatch(/^exit code 0\n1\n2\n3\n.+\[22893 characters are left out here\].+4999\n5000\n$/s);
    expect(output?.toString()).toBe(whole);
  });

  it('that is huge keeps its beginning and its end alone', async () => {
    const limits = { shellKeptBytes: 64 * 1024 };
    const { text, output, isError } = await run('head -c 50000000 /dev/zero | tr "\\0" x; echo; echo the end', {
      limits,
    });
    expect(isError).toBe(false);
    expect(output?.length).toBeLessThan(66 * 1024);
    expect(output?.toString()).toMatch(/^x+\n\[49934473 bytes are left out here\]\nx+\nthe end\n$/);
    expect(text).toMatch(/the end\n$/);
    expect(said.join('').length).toBeLessThan(300 * 1024);
  });

  it('that is no UTF-8 is shown with replacement characters', async () => {
    const { text, isError } = await run(String.raw`printf 'a\377\376b\303'`);
    expect({ text, isError }).toEqual({ text: 'exit code 0\na\uFFFD\uFFFDb\uFFFD', isError: false });
    expect(said.join('')).toBe('a\uFFFD\uFFFDb\uFFFD');
  });

  it('is shown while the command runs', async () => {
    const running = run(`echo first; until [ -e go ]; do sleep 0.05; done; echo second`);
    await untilPrinted('first\n');
    expect(said.join('')).toBe('first\n');
    await run('touch go');
    expect((await running).text).toBe('exit code 0\nfirst\nsecond\n');
    expect(said.join('')).toBe('first\nsecond\n');
  });
});

describe.runIf(hasProcessTable)('what a command leaves running', () => {
  it('is ended with it, also what left its process group', async () => {
    const { text } = await run(`sleep 600 & setsid sh -c 'sleep 600' & echo started`);
    expect(text).toBe('exit code 0\nstarted\n');
    expect(await left()).toEqual([]);
  });

  it('is ended when its time is over', async () => {
    const { text, isError } = await run('sleep 600 & sleep 600', { timeout_seconds: 1 });
    expect(isError).toBe(true);
    expect(text).toBe('error: stopped: it was not over after 1 seconds\n(it printed nothing)');
    expect(await left()).toEqual([]);
  });

  it('is ended by an abort, the reason of which is thrown', async () => {
    const stopping = new AbortController();
    const reason = new Error('the run is cancelled');
    const running = run(`sleep 600 & trap '' TERM; echo up; while :; do sleep 1; done`, { signal: stopping.signal });
    const thrown = running.catch((error: unknown) => error);
    await untilPrinted('up');
    stopping.abort(reason);
    expect(await thrown).toBe(reason);
    expect(await left()).toEqual([]);
  });

  it('is killed when its processes together use too much memory', async () => {
    const hog = 'globalThis.kept = Buffer.alloc(80 * 1024 * 1024, 1); setInterval(() => {}, 1000)';
    const node = `"${process.execPath}" -e "${hog}"`;
    const { text, isError } = await run(`${node} & ${node} & ${node} & wait`, { limits: { shellMemoryMb: 250 } });
    expect(isError).toBe(true);
    expect(text).toMatch(/^error: killed: it used more than 250 MB of memory\n/);
    expect(await left()).toEqual([]);
  });
});
