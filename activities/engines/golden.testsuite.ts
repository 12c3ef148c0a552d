import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { CanonicalEvent } from '../../contract/canonical.ts';
import { PLATFORM, type NativeFrame } from '../../contract/frames.ts';
import { inputFrame } from '../../contract/platform-frames.ts';
import {
  INITIAL_LANE_STATE,
  translateSegment,
  type Disposition,
  type LaneState,
  type TranslateFrame,
} from '../../contract/translation.ts';
import { WireFrames } from './wire/wire-frame.ts';

const FIXTURES = path.join(import.meta.dirname, '../../tests/fixtures/transcripts');
/** What is said when a translator does not know a frame, or breaks the grammar. */
const TRANSLATORS_FAULT = /without a mapping|not translated|is malformed|left out|was not asked/;
const RUN = { runId: 'run_1', threadId: 'thr_1' };

/** A line of a recorded transcript: who said it, and what. */
export interface Recorded {
  readonly dir: 'recv' | 'send' | 'proc' | 'throw' | 'note';
  readonly frame: Readonly<Record<string, unknown>>;
}

export interface GoldenDialect {
  /** Folder of `tests/fixtures/transcripts`. */
  readonly recordings: string;
  /** The tag of its frames: `acp:opencode`. */
  readonly provider: string;
  readonly translate: TranslateFrame;
  /** The frames that the driver would have stored of such a conversation. */
  framesOf(recorded: readonly Recorded[]): readonly NativeFrame[];
  /** Where its golden files are. */
  readonly golden: string;
}

/** Every recorded conversation of an engine, said in the canonical grammar: as it was reviewed, and nothing unaccounted for. */
export function describeGolden(dialect: GoldenDialect): void {
  const folder = path.join(FIXTURES, dialect.recordings);
  const scenarios = readdirSync(folder).map((file) => path.basename(file, '.jsonl'));

  describe.each(scenarios)(`${dialect.recordings}, %s`, (scenario) => {
    const native = dialect.framesOf(recordedIn(path.join(folder, `${scenario}.jsonl`)));
    const { events, dispositions } = replayed(dialect, native);

    it('reads as it is written down', async () => {
      const lines = events.map(({ kind, body, child }) => JSON.stringify({ kind, ...body, ...child }));
      await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(path.join(dialect.golden, `${scenario}.jsonl`));
    });

    it('accounts for every frame', () => {
      expect(dispositions).toHaveLength(native.length + 2);
      for (const { kinds, suppressed } of dispositions)
        expect(kinds.length > 0 || (suppressed ?? '') !== '').toBe(true);
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
}

function recordedIn(file: string): Recorded[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Recorded);
}

/** Those of an engine that speaks JSON-RPC: another process is another connection. */
export function rpcFramesOf(recorded: readonly Recorded[]): NativeFrame[] {
  let wire = new WireFrames();
  return recorded.flatMap(({ dir, frame }) => {
    if (dir === 'proc') wire = new WireFrames();
    return dir === 'recv' || dir === 'send' ? [wire.frameOf(dir, frame)] : [];
  });
}

interface Said {
  readonly kind: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly child: Readonly<Record<string, unknown>>;
}

/** The frames as a lane: one segment each, between the platform's first and last. */
function replayed(
  { provider, translate }: GoldenDialect,
  native: readonly NativeFrame[],
): { events: Said[]; dispositions: Disposition[] } {
  const lane: readonly (readonly [provider: string, frame: NativeFrame])[] = [
    [PLATFORM, inputFrame('do it')],
    ...native.map((frame) => [provider, frame] as const),
    [PLATFORM, { type: 'run.settled', status: 'completed', stopReason: 'end_turn' }],
  ];
  let state: LaneState = INITIAL_LANE_STATE;
  const events: Said[] = [];
  const dispositions: Disposition[] = [];
  lane.forEach(([by, frame], firstSeq) => {
    const stepIndex = by === PLATFORM ? null : 0;
    const segment = { firstSeq, provider: by, stepIndex, attempt: 1, frames: [{ at: 0, frame }] };
    const translated = translateSegment(RUN, state, segment, translate);
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
