import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { CanonicalEvent } from '../../../contract/canonical.ts';
import { PLATFORM, type NativeFrame } from '../../../contract/frames.ts';
import { inputFrame } from '../../../contract/platform-frames.ts';
import {
  INITIAL_LANE_STATE,
  translateSegment,
  type Disposition,
  type LaneState,
} from '../../../contract/translation.ts';
import { WireFrames, type WireMessage } from '../wire/wire-frame.ts';
import { translateAcpFrame } from './translate.ts';

const FIXTURES = path.join(import.meta.dirname, '../../../tests/fixtures/transcripts');
const ENGINES = ['opencode-acp', 'claude-agent-acp', 'codex-acp', 'gemini-acp'];
/** What is said when the translator does not know a frame, or breaks the grammar. */
const TRANSLATORS_FAULT = /without a mapping|not translated|is malformed|left out|was not asked/;
const RUN = { runId: 'run_1', threadId: 'thr_1' };

interface Recorded {
  readonly dir: string;
  readonly frame: WireMessage;
}

const scenarios = ENGINES.flatMap((engine) =>
  readdirSync(path.join(FIXTURES, engine)).map((file) => ({ engine, scenario: path.basename(file, '.jsonl') })),
);

describe.each(scenarios)('$engine, $scenario', ({ engine, scenario }) => {
  const native = nativeFrames(path.join(FIXTURES, engine, `${scenario}.jsonl`));
  const { events, dispositions } = replayed(engine, native);

  it('reads as it is written down', async () => {
    const lines = events.map(({ kind, body, child }) => JSON.stringify({ kind, ...body, ...child }));
    const golden = path.join(import.meta.dirname, '__golden__', engine, `${scenario}.jsonl`);
    await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(golden);
  });

  it('accounts for every frame', () => {
    expect(dispositions).toHaveLength(native.length + 2);
    for (const { kinds, suppressed } of dispositions) expect(kinds.length > 0 || (suppressed ?? '') !== '').toBe(true);
    const faults = events.filter(({ body }) => TRANSLATORS_FAULT.test(String(body['message'])));
    expect(faults).toEqual([]);
  });

  it('says nothing about a tool before its start and ends every tool once', () => {
    const started = new Set<unknown>();
    const completed = new Set<unknown>();
    for (const { kind, body } of events) {
      const id = body['toolCallId'];
      if (kind === 'tool.started') started.add(id);
      if (kind === 'tool.progress' || kind === 'tool.completed') expect(started).toContain(id);
      if (kind !== 'tool.completed') continue;
      expect(completed).not.toContain(id);
      completed.add(id);
    }
    expect(completed).toEqual(started);
  });
});

function nativeFrames(file: string): NativeFrame[] {
  let wire = new WireFrames();
  const frames: NativeFrame[] = [];
  for (const line of readFileSync(file, 'utf8').trimEnd().split('\n')) {
    const { dir, frame } = JSON.parse(line) as Recorded;
    // another process, another connection
    if (dir === 'proc') wire = new WireFrames();
    if (dir === 'recv' || dir === 'send') frames.push(wire.frameOf(dir, frame));
  }
  return frames;
}

interface Said {
  readonly kind: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly child: Readonly<Record<string, unknown>>;
}

/** The frames as a lane: one segment each, between the platform's first and last. */
function replayed(engine: string, native: readonly NativeFrame[]): { events: Said[]; dispositions: Disposition[] } {
  const lane: readonly (readonly [provider: string, frame: NativeFrame])[] = [
    [PLATFORM, inputFrame('do it')],
    ...native.map((frame) => [`acp:${engine}`, frame] as const),
    [PLATFORM, { type: 'run.settled', status: 'completed', stopReason: 'end_turn' }],
  ];
  let state: LaneState = INITIAL_LANE_STATE;
  const events: Said[] = [];
  const dispositions: Disposition[] = [];
  lane.forEach(([provider, frame], firstSeq) => {
    const stepIndex = provider === PLATFORM ? null : 0;
    const segment = { firstSeq, provider, stepIndex, attempt: 1, frames: [{ at: 0, frame }] };
    const translated = translateSegment(RUN, state, segment, translateAcpFrame);
    // the state is stored between segments
    state = JSON.parse(JSON.stringify(translated.state)) as LaneState;
    dispositions.push(...translated.dispositions);
    for (const operation of translated.operations) {
      if (operation.op === 'emit') events.push(saidOf(CanonicalEvent.parse({ ...operation.event, seq: 0 })));
    }
  });
  return { events, dispositions };
}

function saidOf(event: CanonicalEvent): Said {
  const {
    schemaVersion: _,
    eventId: _id,
    seq: _seq,
    runId: _run,
    threadId: _thread,
    turnId: _turn,
    ts: _ts,
    ...said
  } = event;
  const { kind, identity, ...body } = said;
  const { nativeParentSessionId, nativeSessionId } = identity;
  return { kind, body, child: nativeParentSessionId === undefined ? {} : { childSession: nativeSessionId } };
}
