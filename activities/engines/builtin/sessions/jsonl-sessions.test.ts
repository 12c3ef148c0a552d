import { spawn } from 'node:child_process';
import { appendFile, mkdir, mkdtemp, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pino } from 'pino';
import { describe, expect, inject, it } from 'vitest';
import { SESSION_LINE_LIMIT_BYTES } from '../../../../contract/session-jsonl.ts';
import { assistantSays, entriesOf, fileOf, toolSays, userSays } from '../../../../contract/session-testkit.ts';
import { JsonlSessions } from './jsonl-sessions.ts';

const scope = { cwd: '/home/ada/place' };

async function sessions(): Promise<{ backend: JsonlSessions; folder: string; warnings: object[] }> {
  const folder = await mkdtemp(join(inject('scratch'), 'jsonl-'));
  const warnings: object[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => void warnings.push(JSON.parse(line) as object) });
  return { backend: new JsonlSessions({ folder, log }), folder, warnings };
}

async function stored(backend: JsonlSessions): Promise<string> {
  const session = await backend.open(scope);
  await backend.append(session, userSays('hi'));
  await backend.append(session, assistantSays('hello'));
  await backend.close(session);
  return session.path;
}

describe('a session as a file', () => {
  it('lies where the contract says, is private, and is one line an entry, chained', async () => {
    const { backend, folder } = await sessions();
    const session = await backend.open(scope);
    expect(await readdir(folder)).toEqual([]);
    await backend.append(session, userSays('hi'));
    expect(session.path).toMatch(/\/---home-ada-place--\/\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}_[0-9a-f-]{36}\.jsonl$/);
    const early = (await readFile(session.path, 'utf8')).split('\n');
    expect(early).toHaveLength(3);
    await backend.append(session, assistantSays('hello'));
    await backend.close(session);
    const lines = (await readFile(session.path, 'utf8')).trimEnd().split('\n');
    const [header, first, second] = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(header).toMatchObject({ type: 'session', version: 2, id: session.id, cwd: '/home/ada/place' });
    expect(first).not.toHaveProperty('parent-id');
    expect(second?.['parent-id']).toBe(first?.['id']);
    expect((await stat(session.path)).mode & 0o077).toBe(0);
    expect(await readdir(dirname(session.path))).toHaveLength(1);
  });

  it('that a crash has cut loses the cut line alone, with a warning, and is gone on with', async () => {
    const { backend, warnings } = await sessions();
    const path = await stored(backend);
    await appendFile(path, '{"type":"message","id":"x","mess');
    expect(await backend.load(path, scope)).toEqual([userSays('hi'), assistantSays('hello')]);
    expect(warnings).toMatchObject([{ line: 4, problem: 'is not a JSON object' }]);
    const again = await backend.openExisting(path, scope);
    await backend.append(again, userSays('after the crash'));
    await backend.close(again);
    expect((await backend.load(path, scope)).at(-1)).toEqual(userSays('after the crash'));
    expect(await backend.doctor(path)).toMatchObject({
      issues: [{ code: 'malformed_json', line: 4 }],
      repairedPath: null,
    });
  });

  it('that was cut at any byte gives the messages before the cut', async () => {
    const { backend, folder } = await sessions();
    const whole = fileOf(entriesOf([userSays('ñ 你好'), assistantSays('🌍')]));
    const bytes = Buffer.from(whole);
    const cut = join(folder, '--x--', '2026-01-01T00-00-00_s1.jsonl');
    await mkdir(dirname(cut));
    for (let end = whole.indexOf('\n') + 1; end <= bytes.length; end += 7) {
      await writeFile(cut, bytes.subarray(0, end));
      const kept = bytes.subarray(0, end).toString('utf8').split('\n').slice(1);
      const complete = kept.filter((line) => line.endsWith('}}')).length;
      expect(await backend.load(cut, scope)).toHaveLength(complete);
    }
  });

  it('has one writer; the lock of a process that died counts no more', async () => {
    const { backend } = await sessions();
    const path = await stored(backend);
    const holder = await backend.openExisting(path, scope);
    await expect(backend.openExisting(path, scope)).rejects.toMatchObject({
      code: 'session_busy',
      facts: { held_by: process.pid },
    });
    await backend.close(holder);
    const dead = spawn(process.execPath, ['-e', ''], { stdio: 'ignore' });
    await new Promise((resolve) => dead.once('exit', resolve));
    await writeFile(`${path}.lock`, `${JSON.stringify({ pid: dead.pid, stamp: 'boot/1' })}\n`);
    const heir = await backend.openExisting(path, scope);
    await backend.append(heir, userSays('mine now'));
    await backend.close(heir);
    expect(await backend.load(path, scope)).toHaveLength(3);
  });

  it('may be of version 1, and holds a compaction that load applies', async () => {
    const { backend, folder } = await sessions();
    const path = join(folder, '---old--', '2025-01-01T00-00-00_old.jsonl');
    await mkdir(dirname(path));
    const message = { role: 'user', content: 'from before', timestamp: 5 };
    await writeFile(
      path,
      `{"type":"session","id":"old","timestamp":"2025-01-01T00:00:00Z","cwd":"/old"}\n${JSON.stringify({ type: 'message', timestamp: 'x', message })}\n`,
    );
    const session = await backend.openExisting(path);
    expect(session.id).toBe('old');
    await backend.appendEntry(session, { type: 'message', id: 'kept', message: userSays('kept') });
    await backend.appendEntry(session, { type: 'compaction', summary: 'short', firstKeptEntryId: 'kept' });
    await backend.append(session, assistantSays('after'));
    await backend.close(session);
    const history = await backend.load(path);
    expect(history).toMatchObject([
      { content: expect.stringContaining('short') as string },
      userSays('kept'),
      assistantSays('after'),
    ]);
  });

  it('holds an entry of one id once', async () => {
    const { backend } = await sessions();
    const session = await backend.open({ ...scope, threadId: 'thr_1' });
    const entry = { type: 'message', id: 'run_1.0', message: userSays('once') } as const;
    await backend.appendEntry(session, entry);
    await backend.appendEntry(session, entry);
    await backend.close(session);
    const again = await backend.openExisting(session.path, scope);
    await backend.appendEntry(again, entry);
    await backend.close(again);
    expect(await backend.load(session.path, scope)).toEqual([userSays('once')]);
    expect((await backend.find({ ...scope, target: 'thr_1' }))[0]?.path).toBe(session.path);
  });

  it('is repaired beside itself: the file stays as it was, and the copy is no session', async () => {
    const { backend } = await sessions();
    const path = await stored(backend);
    await appendFile(path, 'nonsense\n');
    const stray = entriesOf([toolSays('none', 'x')]);
    await appendFile(path, fileOf(stray).split('\n').slice(1).join('\n'));
    const before = await readFile(path, 'utf8');
    const { issues, repairedPath } = await backend.doctor(path, { repair: true });
    expect(issues.map(({ code }) => code)).toEqual(['malformed_json', 'orphan_tool_result']);
    expect(repairedPath).toBe(path.replace('.jsonl', '.repaired.jsonl'));
    expect((await backend.doctor(repairedPath ?? '')).issues).toEqual([]);
    expect(await backend.load(repairedPath ?? '', scope)).toEqual([userSays('hi'), assistantSays('hello')]);
    expect(await readFile(path, 'utf8')).toBe(before);
    expect((await backend.list(scope)).map((info) => info.path)).toEqual([path]);
  });

  it('takes no line over the limit, and passes over one that is there', async () => {
    const { backend, warnings } = await sessions();
    const path = await stored(backend);
    const session = await backend.openExisting(path, scope);
    const huge = 'x'.repeat(SESSION_LINE_LIMIT_BYTES);
    await expect(backend.append(session, userSays(huge))).rejects.toMatchObject({ code: 'payload_too_large' });
    await backend.append(session, userSays('smaller'));
    await backend.close(session);
    await appendFile(path, `${huge}x\n`);
    expect(await backend.load(path, scope)).toHaveLength(3);
    expect(warnings).toMatchObject([{ line: 5, problem: expect.stringContaining('is over') as string }]);
  });

  it('outside of the folder is none of its sessions', async () => {
    const { backend, folder } = await sessions();
    const outside = join(dirname(folder), 'outside.jsonl');
    await writeFile(outside, fileOf(entriesOf([userSays('secret')])));
    for (const path of [outside, join(folder, '..', 'outside.jsonl')])
      await expect(backend.load(path, scope)).rejects.toMatchObject({ code: 'session_not_found' });
  });
});
