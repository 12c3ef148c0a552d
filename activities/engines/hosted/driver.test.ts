import { afterEach, describe, expect, test } from 'vitest';
import { cleared, faultOf, isAlive } from '../driver-testkit.ts';
import { stage, stageOf } from './driver-testkit.ts';

afterEach(cleared);

/** An agent that streams what `body`, an async generator's, yields. */
function streaming(body: string): string {
  return `export default { stream: ({ messages, abortSignal }) => ({ fullStream: (async function* () { ${body} })() }) };`;
}

describe('the module of an agent', () => {
  test('prints what it likes, by itself and by programs that it starts', async () => {
    const at = await stageOf(
      'ai-sdk',
      `import { spawnSync } from 'node:child_process';
       console.log('loaded');
       process.stdout.write('{"said":"ended"}\\n');
       ${streaming(`console.log('{"said":1}');
         spawnSync('echo', ['not for the driver'], { stdio: 'inherit' });
         yield { type: 'text-delta', id: '1', text: 'hello' };`)}`,
    );
    expect((await at.turn('go')).end).toEqual({ outcome: 'completed', stopReason: 'end_turn' });
    expect(at.types()).toEqual(['prompt', 'text-delta', 'end']);
  });

  test('is a function that is told the run, and its capabilities say that it chooses the model', async () => {
    const at = await stageOf(
      'ai-sdk',
      `export default async (context) => ({ stream: () => ({ fullStream: (async function* () {
         yield { type: 'text-delta', id: '1', text: JSON.stringify([context, process.cwd()]) };
       })() }) });`,
    );
    at.model = 'big-one';
    const { session } = await at.turn('go');
    expect(session.capabilities.modelSelection).toBe(true);
    const context = { model: 'big-one', workspace: at.workspace, threadId: 'thread' };
    expect(JSON.parse(at.said())).toEqual([context, at.workspace]);
  });

  test('that cannot be loaded makes the engine unavailable', async () => {
    const at = await stageOf('ai-sdk', 'import "./nowhere.mjs"');
    const message = 'the engine scripted cannot be started: its module cannot be loaded';
    expect(await faultOf(at.driver().open(null))).toMatchObject({ code: 'engine_unavailable', message });
  });

  test('that ends its process in the middle loses the engine', async () => {
    const at = await stageOf('ai-sdk', streaming('yield { type: "start" }; process.exit(3);'));
    expect(await faultOf(at.turn('go'))).toMatchObject({
      code: 'engine_lost',
      message: 'scripted ended by itself in the middle (exit code 3)',
    });
    expect(at.types()).toEqual(['prompt', 'start']);
  });

  test('that never comes back to its events is killed, and nobody waits for it', async () => {
    const at = await stageOf('ai-sdk', streaming('yield { type: "custom", pid: process.pid }; for (;;);'));
    await at.cutOff('go', () => at.types().includes('custom'));
    expect(await isAlive(Number(at.parts('custom')[0]?.['pid']))).toBe(false);
  });
});

describe('a turn', () => {
  test('of many thousand pieces loses none, and the agent waits for a slow store', async () => {
    const at = await stageOf(
      'ai-sdk',
      streaming('for (let n = 0; n < 3000; n++) yield { type: "text-delta", id: "1", text: `${n} ` };'),
    );
    let atOnce = 0;
    at.onEmit = async () => {
      expect(++atOnce).toBe(1);
      await new Promise((done) => setImmediate(done));
      atOnce--;
    };
    await at.turn('go');
    expect(at.said().trim().split(' ').map(Number)).toEqual(Array.from({ length: 3_000 }, (_, n) => n));
  });

  test('whose stream throws has failed, and says it without a key', async () => {
    const at = await stageOf(
      'ai-sdk',
      streaming('yield { type: "start" }; throw new TypeError("key sk-123456789abc at https://a.b/c");'),
    );
    const message = 'key [secret] at [address]';
    expect((await at.turn('go')).end).toEqual({ outcome: 'failed', code: 'engine_failed', message });
    expect(at.frames.at(-1)).toEqual({ type: 'throw', dir: 'recv', name: 'TypeError', message });
  });

  test('cannot go on when a frame is not stored', async () => {
    const at = await stage('ai-sdk');
    at.onEmit = () => Promise.reject(new Error('the store is full'));
    await expect(at.turn('text hello')).rejects.toThrow('the store is full');
  });

  test('keeps a long output of a tool out of the log, and a text in pieces', async () => {
    const at = await stageOf(
      'ai-sdk',
      streaming(`yield { type: 'text-delta', id: '1', text: 'x'.repeat(9000) };
        yield { type: 'tool-result', toolCallId: 'c', toolName: 'read', output: 'o'.repeat(5000) };`),
    );
    await at.turn('go');
    expect(at.types()).toEqual(['prompt', 'text-delta', 'text-delta', 'text-delta', 'tool-result', 'end']);
    expect(at.kept).toEqual([{ name: 'read.txt', contentType: 'text/plain; charset=utf-8', text: 'o'.repeat(5_000) }]);
    expect(at.frame('tool-result')).toMatchObject({ kept: { output: { name: 'read.txt' } } });
  });

  test('asks a person, is cancelled while it waits, and says so', async () => {
    const at = await stage('ai-sdk');
    at.answer = () => {
      at.abort.abort();
      return Promise.resolve({ status: 'cancelled' });
    };
    expect((await at.turn('permission')).end).toEqual({ outcome: 'cancelled' });
    expect(at.types().at(-1)).toBe('cancel');
    expect(at.questions).toMatchObject([
      { toolName: 'shell', nativeId: expect.stringMatching(/^[0-9a-f]{12}:0:/) as string },
    ]);
  });

  test('is taken up by the next process', async () => {
    const at = await stage('ai-sdk');
    const { session } = await at.turn('text the first');
    const next = at.later('run-2');
    expect((await next.turn('recall', session)).session).toMatchObject({ resumed: true });
    expect(next.said()).toBe('text the first / recall');
  });

  test('that was cancelled before it began is not begun', async () => {
    const at = await stage('ai-sdk');
    const driver = at.driver();
    await driver.open(null);
    at.abort.abort();
    expect(await driver.prompt('text hello')).toEqual({ outcome: 'cancelled' });
    expect(at.frames).toEqual([]);
  });
});
