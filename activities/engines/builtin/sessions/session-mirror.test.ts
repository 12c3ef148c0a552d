import { appendFile, mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Message } from '../../../../contract/agent-messages.ts';
import { planTurns } from '../../../../contract/session-import.ts';
import { assistantSays, toolCall, toolSays, userSays } from '../../../../contract/session-testkit.ts';
import { requestErasure } from '../../../../infra/postgres/erase-thread.ts';
import { importSession } from '../../../../infra/postgres/import-session.ts';
import { createTestDatabase, type TestDatabase } from '../../../../infra/testing/database.ts';
import { JsonlSessions } from './jsonl-sessions.ts';
import { SessionMirror } from './session-mirror.ts';

let db: TestDatabase;
beforeAll(async () => void (db = await createTestDatabase()));
afterAll(async () => await db.drop());

const talk = [userSays('look'), assistantSays([toolCall('a')]), toolSays('a', 'A'), assistantSays('done')];

async function held(messages: readonly Message[], threadId: string | null = null, parentRunId: string | null = null) {
  const plan = planTurns(messages);
  if (!plan.ok) throw new Error(plan.problem.detail);
  const { turns } = plan;
  const more = { tenantId: 'default', model: 'openai/m', idempotency: null };
  const stored = await importSession(db.pool, { ...more, threadId, parentRunId, turns });
  return { threadId: stored.threadId, runId: stored.runIds.at(-1) ?? '' };
}

async function mirrored() {
  const folder = await mkdtemp(join(inject('scratch'), 'mirror-'));
  const warnings: object[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => void warnings.push(JSON.parse(line) as object) });
  const sessions = new JsonlSessions({ folder, log });
  const mirror = new SessionMirror({ pool: db.pool, sessions, log });
  const load = async (threadId: string): Promise<readonly Message[]> => {
    const [info] = await sessions.find({ target: threadId });
    return info === undefined ? [] : await sessions.load(info.path);
  };
  return { folder, warnings, sessions, mirror, load };
}

describe('a thread that is mirrored', () => {
  it('is one file, whose entries are named by run and place, however often it is mirrored', async () => {
    const { mirror, sessions, load } = await mirrored();
    const { threadId, runId } = await held(talk);
    for (let i = 0; i < 3; i++) mirror.settled({ runId, threadId });
    await mirror.idle();
    expect(await load(threadId)).toEqual(talk);
    const list = await sessions.list({});
    expect(list.map(({ id }) => id)).toEqual([threadId]);
    const lines = (await readFile(list[0]?.path ?? '', 'utf8')).trimEnd().split('\n');
    expect(lines.slice(1).map((line) => (JSON.parse(line) as { id: string }).id)).toEqual(
      talk.map((_, index) => `${runId}.${String(index)}`),
    );
  });

  it('gets what an earlier attempt left out: whole runs, and the rest of one that was cut', async () => {
    const { mirror, sessions, load } = await mirrored();
    const first = await held(talk);
    const second = await held([userSays('two'), assistantSays('2')], first.threadId);
    await mirror.mirror(second.runId);
    const [info] = await sessions.list({});
    const lines = (await readFile(info?.path ?? '', 'utf8')).split('\n');
    await writeFile(info?.path ?? '', lines.slice(0, 4).join('\n'));
    await appendFile(info?.path ?? '', '\n{"cut');
    const third = await held([userSays('three'), assistantSays('3')], first.threadId);
    await mirror.mirror(third.runId);
    expect(await load(first.threadId)).toEqual([
      ...talk,
      userSays('two'),
      assistantSays('2'),
      userSays('three'),
      assistantSays('3'),
    ]);
  });

  it('is written by one mirror at a time; the other waits', async () => {
    const { mirror, sessions, load } = await mirrored();
    const first = await held(talk);
    await mirror.mirror(first.runId);
    const second = await held([userSays('two'), assistantSays('2')], first.threadId);
    const [info] = await sessions.list({});
    const writing = await sessions.openExisting(info?.path ?? '');
    mirror.settled(second);
    await sessions.close(writing);
    await mirror.idle();
    expect(await load(first.threadId)).toHaveLength(talk.length + 2);
  });

  it('leaves no file when it was erased, even while it was being written', async () => {
    const { mirror, folder, load } = await mirrored();
    const erased = await held(talk);
    await mirror.mirror(erased.runId);
    expect(await load(erased.threadId)).toHaveLength(talk.length);
    await mirror.remove(erased.threadId);
    await mirror.remove(erased.threadId);
    await db.pool.query(`update run set canonical_state = 'complete' where thread_id = $1`, [erased.threadId]);
    const { threadId } = erased;
    expect(await requestErasure(db.pool, { tenantId: 'default', threadId, cancel: false })).toEqual({ state: 'gone' });
    await mirror.mirror(erased.runId);
    for (const name of await readdir(folder)) expect(await readdir(join(folder, name))).toEqual([]);
  });

  it('is a warning when it cannot be written, and no more', async () => {
    const { mirror, folder, warnings } = await mirrored();
    const run = await held(talk);
    await writeFile(join(folder, '-----'), 'in the way');
    mirror.settled(run);
    await mirror.idle();
    expect(warnings).toMatchObject([{ runId: run.runId, msg: expect.stringContaining('not mirrored') as string }]);
  });
});
