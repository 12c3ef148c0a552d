import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fc } from '../../contract/property-testkit.ts';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { CanonicalBody } from '../../contract/canonical.ts';
import {
  agentWith,
  comesBack,
  endingOf,
  expectMeaning,
  framesOf,
  read,
  replayOf,
  run,
} from '../../contract/encoders/ag-ui-client.testsuite.ts';
import type { AgUiMessage } from '../../contract/encoders/ag-ui-events.ts';
import { startAgUiReplay } from '../../contract/encoders/ag-ui-reopen.ts';
import {
  begin,
  finish,
  leg,
  reasoning,
  text,
  toolEnd,
  toolStart,
} from '../../contract/encoders/lifecycle-bodies.testsuite.ts';
import { SCENARIOS } from '../../contract/encoders/lifecycle-scenarios.testsuite.ts';
import { legalLeg } from '../../contract/encoders/lifecycle-sequences.testsuite.ts';
import { initialProjection, project } from '../../contract/lifecycle-projection.ts';
import type { LifecycleEvent } from '../../contract/lifecycle.ts';

const BEFORE: readonly AgUiMessage[] = [{ id: 'user_1', role: 'user', content: 'Hello 👋' }];

function scenario(name: string): readonly LifecycleEvent[] {
  return SCENARIOS.find((each) => each.name === name)?.events ?? [];
}

/** The client warns and goes on where it must strip or invent something: here that is a fault. */
let complaints: unknown[] = [];
beforeEach(() => {
  complaints = [];
  for (const level of ['warn', 'error'] as const) {
    vi.spyOn(console, level).mockImplementation((...said) => void complaints.push(said));
  }
});
afterEach(() => {
  vi.restoreAllMocks();
  if (complaints.length > 0) throw new Error(`the client complained: ${JSON.stringify(complaints).slice(0, 2_000)}`);
});

describe('a stream of one leg and the real AG-UI client', () => {
  it.each(SCENARIOS)('reads $name without a complaint', async ({ events, unanswered }) => {
    const start = startAgUiReplay(BEFORE, unanswered);
    const seen = await read(agentWith(BEFORE), framesOf(events, start));
    expect(endingOf(seen)).toBe(events.at(-1)?.type);
    expect(seen.messages).toEqual(replayOf(events, start).messages);
  });

  it('reads any legal leg, and holds what the leg said', async () => {
    await fc.assert(
      fc.asyncProperty(legalLeg(80), async (events) => {
        const start = startAgUiReplay(BEFORE);
        const seen = await read(agentWith(BEFORE), framesOf(events, start));
        expect(seen.messages).toEqual(replayOf(events, start).messages);
        expectMeaning(seen.messages, events);
        expect(endingOf(seen)).toBe(events.at(-1)?.type);
      }),
      { numRuns: 80 },
    );
  }, 120_000);

  it('reads it over HTTP, one byte at a time', async () => {
    const events = scenario('text');
    const bytes = Buffer.from(framesOf(events, startAgUiReplay(BEFORE)).join(''));
    const server = createServer((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.socket?.setNoDelay(true);
      for (const byte of bytes) response.write(Uint8Array.of(byte));
      response.end();
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    try {
      const { port } = server.address() as AddressInfo;
      const seen = await run(agentWith(BEFORE, `http://127.0.0.1:${String(port)}/`));
      expect(seen.messages).toEqual(replayOf(events, startAgUiReplay(BEFORE)).messages);
      expect(seen.messages[1]?.content).toBe('Grüße aus 東京 \n“quoted”\\ \u2028 🧑‍🚀');
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  });
});

describe('a client that comes back', () => {
  const deltas = (n: number) => Array.from({ length: n }, (_, i) => ` ${String(i)}`);
  const long = leg([
    begin,
    ...reasoning('m1', ...deltas(20)),
    ...text('m1', ...deltas(40)),
    toolStart('c1', 'one', { a: 1 }, 'm1'),
    toolStart('c2', 'two', {}, 'm1'),
    toolEnd('c2', 'second'),
    ...text('m2', ...deltas(20)),
    toolEnd('c1', 'first'),
    ...text('m3', ...deltas(20)),
    finish,
  ]);

  it.each([...SCENARIOS, { name: 'a long run', events: long, unanswered: [] }])(
    'ends with the same messages after any event of $name',
    async ({ events, unanswered }) => {
      const start = startAgUiReplay(BEFORE, unanswered);
      const whole = await read(agentWith(BEFORE), framesOf(events, start));
      for (let cursor = 0; cursor <= events.length; cursor++) {
        for (const seen of await comesBack(events, start, cursor)) {
          expect(seen.messages, `after ${String(cursor)}`).toEqual(whole.messages);
          expect(seen.ending).toBe(whole.ending);
        }
      }
    },
    120_000,
  );

  it('ends with the same messages after any event of any legal leg', async () => {
    await fc.assert(
      fc.asyncProperty(legalLeg(80), fc.nat(), async (events, n) => {
        const start = startAgUiReplay(BEFORE);
        const whole = await read(agentWith(BEFORE), framesOf(events, start));
        for (const seen of await comesBack(events, start, n % (events.length + 1))) {
          expect(seen.messages).toEqual(whole.messages);
          expect(seen.ending).toBe(whole.ending);
        }
      }),
      { numRuns: 80 },
    );
  }, 120_000);

  it('is told which namespace the live rest is in', async () => {
    const events = scenario('sub-agents');
    const cursor = events.findIndex(({ namespace }) => namespace.length === 2) + 2;
    const [fresh] = await comesBack(events, startAgUiReplay(BEFORE), cursor);
    expect(fresh?.custom[0]).toEqual(['NAMESPACE_CONTEXT', { namespace: ['child_1', 'child_3'] }]);
  });
});

describe('a thread of several streams', () => {
  it('has one conversation with a failed and a cancelled run in it, also on one stream', async () => {
    const runs = ['text', 'error', 'cancel', 'finish'].map((name, i) => {
      const renamed = JSON.stringify(scenario(name)).replace(/"(msg|call|run)_(\d)/g, `"$1_${String(i)}$2`);
      return framesOf(JSON.parse(renamed) as LifecycleEvent[], startAgUiReplay());
    });
    const apart = agentWith(BEFORE);
    for (const frames of runs) await read(apart, frames);
    const joined = agentWith(BEFORE);
    joined.fetch = () => Promise.resolve(new Response(runs.flat().join('')));
    await joined.runAgent();
    expect(joined.messages).toEqual(apart.messages);
    expect(joined.messages).toHaveLength(7);
  });

  it('shows a run that paused and went on, as it comes from the delivery log', async () => {
    const [first = [], second = []] = legs([
      { kind: 'turn.started', input: 'Hello 👋' },
      { kind: 'message.delta', messageId: 'm1', text: 'May I do both?' },
      { kind: 'message.completed', messageId: 'm1' },
      { kind: 'tool.started', toolCallId: 'c1', name: 'delete', input: { path: 'a.txt' } },
      { kind: 'tool.started', toolCallId: 'c2', name: 'delete', input: { path: 'b.txt' } },
      {
        kind: 'approval.requested',
        approvalId: 'int_1',
        operation: 'delete a',
        options: ['approve'],
        toolCallId: 'c1',
      },
      {
        kind: 'approval.requested',
        approvalId: 'int_2',
        operation: 'delete b',
        options: ['approve'],
        toolCallId: 'c2',
      },
      { kind: 'session.metadata', metadata: { state: 'parked', durability: 'committed', revision: 1, headRef: 'h1' } },
      { kind: 'approval.resolved', approvalId: 'int_1', decision: 'approve' },
      { kind: 'approval.resolved', approvalId: 'int_2', decision: 'reject' },
      { kind: 'tool.completed', toolCallId: 'c1', status: 'ok', preview: 'gone' },
      { kind: 'tool.completed', toolCallId: 'c2', status: 'error', error: 'rejected' },
      { kind: 'message.delta', messageId: 'm2', text: 'One is gone.' },
      { kind: 'message.completed', messageId: 'm2' },
      {
        kind: 'session.metadata',
        metadata: { state: 'committed', durability: 'committed', revision: 2, headRef: 'h2' },
      },
      { kind: 'turn.completed', stopReason: 'end_turn' },
    ]);
    const agent = agentWith(BEFORE);
    await read(agent, framesOf(first, startAgUiReplay(BEFORE)));
    expect(agent.pendingInterrupts.map(({ toolCallId }) => toolCallId)).toEqual(['c1', 'c2']);
    agent.pendingInterrupts = [];
    const paused = replayOf(first, startAgUiReplay(BEFORE));
    const next = startAgUiReplay(paused.messages, Object.keys(paused.state.unanswered));
    const seen = await read(agent, framesOf(second, next));
    expect(endingOf(seen)).toBe('run.finished');
    expectMeaning(seen.messages, [...first, ...second.filter(({ type }) => type !== 'tool.started')]);
    for (let cursor = 0; cursor <= second.length; cursor++) {
      for (const back of await comesBack(second, next, cursor)) expect(back.messages).toEqual(seen.messages);
    }
  });
});

/** The lifecycle streams of a run with this delivery log. */
function legs(bodies: readonly CanonicalBody[]): LifecycleEvent[][] {
  let state = initialProjection({ runId: 'run_1', threadId: 'thr_1', engine: 'builtin' });
  const byRun = new Map<string, LifecycleEvent[]>();
  for (const [seq, body] of bodies.entries()) {
    const ids = { schemaVersion: 1, eventId: `run_1:${String(seq)}`, seq, runId: 'run_1', threadId: 'thr_1' } as const;
    const delivery = {
      deliverySeq: seq + 1,
      revision: 0,
      ts: 1_786_924_800_000 + seq,
      identity: { provider: 'builtin' },
    };
    const projected = project(state, { ...ids, ...delivery, ...body });
    state = projected.state;
    for (const event of projected.events) byRun.set(event.run_id, [...(byRun.get(event.run_id) ?? []), event]);
  }
  return [...byRun.values()];
}
