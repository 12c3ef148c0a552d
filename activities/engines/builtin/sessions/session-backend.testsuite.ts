import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fc } from '../../../../contract/property-testkit.ts';
import type { Message } from '../../../../contract/agent-messages.ts';
import { assistantSays, conversation, toolCall, toolSays, userSays } from '../../../../contract/session-testkit.ts';
import type { Session, SessionBackend, SessionScope } from './session-backend.ts';

export interface BackendRig {
  readonly backend: SessionBackend;
  /** Sessions of one test, apart from those of the others. */
  newScope(): SessionScope;
  /** Another process’s view of the same sessions. */
  other(): SessionBackend;
  stop(): Promise<void>;
}

const EVERY_KIND: Message[] = [
  userSays('What is in there? ñ 你好 🌍'),
  assistantSays(
    [
      { type: 'thinking', thinking: 'I look.', thinkingSignature: 'sealed', redacted: false },
      { type: 'text', text: 'A moment.' },
      toolCall('call-a'),
      toolCall('call-b'),
    ],
    {
      stopReason: 'tool-use',
      provider: 'openai',
      api: 'openai-completions',
      model: 'm',
      usage: { input: 1, cacheRead: 2 },
    },
  ),
  toolSays('call-b', '\u0000\u2028\ud800 "quoted"', { isError: true }),
  toolSays('call-a', 'a.txt', { details: { lines: [1, null, { deep: true }] } }),
  assistantSays('One file.'),
  {
    role: 'user',
    content: [
      { type: 'text', text: 'in' },
      { type: 'text', text: ' blocks' },
    ],
    timestamp: 4_000,
  },
  assistantSays([], {
    stopReason: 'error',
    errorMessage: 'away',
    error: { code: 'provider_unavailable', retryable: true },
  }),
  userSays('again'),
  assistantSays('I was', { stopReason: 'aborted' }),
];

/** What every session backend promises (`SessionBackend`). */
export function sessionBackendSuite(name: string, start: () => Promise<BackendRig>): void {
  describe(`sessions in ${name}`, () => {
    let rig: BackendRig;
    beforeAll(async () => void (rig = await start()));
    afterAll(async () => await rig.stop());

    async function stored(scope: SessionScope, messages: readonly Message[]): Promise<Session> {
      const session = await rig.backend.open(scope);
      for (const message of messages) await rig.backend.append(session, message);
      await rig.backend.close(session);
      return session;
    }

    it('give back what was appended, to another process too', async () => {
      const scope = rig.newScope();
      const { path } = await stored(scope, EVERY_KIND);
      expect(await rig.backend.load(path, scope)).toEqual(EVERY_KIND);
      expect(await rig.other().load(path, scope)).toEqual(EVERY_KIND);
    });

    it('give back any conversation', async () => {
      await fc.assert(
        fc.asyncProperty(conversation, async (messages) => {
          const scope = rig.newScope();
          const { path } = await stored(scope, messages);
          expect(await rig.other().load(path, scope)).toEqual(messages);
        }),
        { numRuns: 15 },
      );
    });

    it('are gone on with after they were closed', async () => {
      const scope = rig.newScope();
      const { path } = await stored(scope, EVERY_KIND);
      const more = [userSays('and now?'), assistantSays('Now it is over.')];
      const other = rig.other();
      const again = await other.openExisting(path, scope);
      for (const message of more) await other.append(again, message);
      await other.close(again);
      expect(again.path).toBe(path);
      expect(await rig.backend.load(path, scope)).toEqual([...EVERY_KIND, ...more]);
      expect(await rig.backend.list(scope)).toHaveLength(1);
    });

    it('keep the order of appends that nobody awaits', async () => {
      const scope = rig.newScope();
      const session = await rig.backend.open(scope);
      const messages = Array.from({ length: 20 }, (_, i) => [
        userSays(`q${String(i)}`),
        assistantSays(`a${String(i)}`),
      ]).flat();
      const appends = messages.map(async (message) => await rig.backend.append(session, message));
      await rig.backend.close(session);
      await Promise.all(appends);
      expect(await rig.backend.load(session.path, scope)).toEqual(messages);
    });

    it('take a message of a megabyte', async () => {
      const scope = rig.newScope();
      const messages = [userSays('🌍'.repeat(250_000)), assistantSays('x'.repeat(1_000_000))];
      const { path } = await stored(scope, messages);
      expect(await rig.other().load(path, scope)).toEqual(messages);
    });

    it('are nothing to anybody before the first message', async () => {
      const scope = rig.newScope();
      const session = await rig.backend.open(scope);
      expect(await rig.backend.list(scope)).toEqual([]);
      expect(await rig.backend.latest(scope)).toBeNull();
      await rig.backend.close(session);
      expect(await rig.backend.list(scope)).toEqual([]);
      expect(await rig.backend.find({ ...scope, target: 'latest' })).toEqual([]);
    });

    it('are listed newest begun first, as many as are asked for, and found by every target', async () => {
      const scope = rig.newScope();
      const made: Session[] = [];
      for (let i = 0; i < 3; i++) made.push(await stored(scope, [userSays(`session ${String(i)}`)]));
      const ids = made.map(({ id }) => id).toReversed();
      const list = await rig.backend.list(scope);
      expect(list.map(({ id }) => id)).toEqual(ids);
      expect(await rig.other().list(scope)).toEqual(list);
      expect((await rig.backend.list({ ...scope, limit: 2 })).map(({ id }) => id)).toEqual(ids.slice(0, 2));
      expect((await rig.backend.latest(scope))?.id).toBe(ids[0]);
      for (const info of list) expect(Number.isNaN(Date.parse(info.createdAt))).toBe(false);

      const found = async (target: string | number) =>
        (await rig.backend.find({ ...scope, target })).map(({ id }) => id);
      expect(await found('latest')).toEqual([ids[0]]);
      expect(await found(1)).toEqual([ids[1]]);
      expect(await found(3)).toEqual([]);
      expect(await found(-1)).toEqual([]);
      expect(await found(0.5)).toEqual([]);
      expect(await found(made[1]?.path ?? '')).toEqual([ids[1]]);
      expect(await found(ids[2] ?? '')).toEqual([ids[2]]);
      expect(await found((ids[2] ?? '').slice(0, -1))).toEqual([ids[2]]);
      expect(await found('')).toEqual([]);
      expect(await found('no such session')).toEqual([]);
      const shared = sharedBeginning(ids);
      await expect(found(shared)).rejects.toMatchObject({ code: 'session_ambiguous' });
    });

    it('of another scope are not found', async () => {
      const scope = rig.newScope();
      const { id } = await stored(scope, EVERY_KIND);
      const elsewhere = rig.newScope();
      expect(await rig.backend.list(elsewhere)).toEqual([]);
      expect(await rig.backend.find({ ...elsewhere, target: id })).toEqual([]);
    });

    it('that are not there are said not to be', async () => {
      const scope = rig.newScope();
      for (const path of ['', 'nowhere', '/nowhere.jsonl', 'thr_00000000-0000-7000-8000-000000000000']) {
        await expect(rig.backend.load(path, scope)).rejects.toMatchObject({ code: 'session_not_found' });
        await expect(rig.backend.openExisting(path, scope)).rejects.toMatchObject({ code: 'session_not_found' });
      }
    });

    it('lose nothing to two writers', async () => {
      const scope = rig.newScope();
      const { path } = await stored(scope, [userSays('first'), assistantSays('yes')]);
      const writers = [rig.backend, rig.other()].map(async (backend, index) => {
        const mine = [userSays(`writer ${String(index)}`), assistantSays(`answer ${String(index)}`)];
        const session = await backend.openExisting(path, scope);
        for (const message of mine) await backend.append(session, message);
        await backend.close(session);
        return mine;
      });
      const ended = await Promise.allSettled(writers);
      const written = ended.flatMap((end) => (end.status === 'fulfilled' ? end.value : []));
      for (const end of ended)
        if (end.status === 'rejected') expect(end.reason).toMatchObject({ code: 'session_busy' });
      expect(written.length).toBeGreaterThan(0);
      const kept = await rig.backend.load(path, scope);
      expect(kept).toHaveLength(2 + written.length);
      expect(kept).toEqual(expect.arrayContaining(written));
    });

    it('take no append when they are closed', async () => {
      const scope = rig.newScope();
      const session = await stored(scope, EVERY_KIND);
      await expect(rig.backend.append(session, userSays('late'))).rejects.toThrow('is not open');
      await rig.backend.close(session);
    });
  });
}

function sharedBeginning(ids: readonly string[]): string {
  const [first = ''] = ids;
  let end = 0;
  while (end < first.length && ids.every((id) => id[end] === first[end])) end++;
  return first.slice(0, end);
}
