import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { FrameSegment, NativeFrame } from '../../../contract/frames.ts';
import {
  INITIAL_LANE_STATE,
  translateSegment,
  type Disposition,
  type LogOperation,
} from '../../../contract/translation.ts';
import { WireFrames, type WireMessage } from '../wire/wire-frame.ts';
import { translateCodexFrame } from './translate.ts';

const FIXTURES = join(import.meta.dirname, '../../../tests/fixtures/transcripts/codex-app-server');
const lane = { runId: 'run_1', threadId: 'thr_1' };

/** A recorded conversation as the lane of a run has it: one frame a segment, between the platform's. */
function replay(scenario: string): { operations: LogOperation[]; dispositions: Disposition[] } {
  const wire = new WireFrames();
  const native = readFileSync(join(FIXTURES, scenario), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as { dir: 'recv' | 'send' | 'proc'; frame: WireMessage })
    .flatMap(({ dir, frame }) => (dir === 'proc' ? [] : [wire.frameOf(dir, frame)]));
  const frames: { provider: string; frame: NativeFrame }[] = [
    { provider: 'tidemark', frame: { type: 'run.input', input: scenario, inputBytes: scenario.length } },
    ...native.map((frame) => ({ provider: 'codex', frame })),
    { provider: 'tidemark', frame: { type: 'run.settled', status: 'completed', stopReason: 'end_turn' } },
  ];
  const operations: LogOperation[] = [];
  const dispositions: Disposition[] = [];
  let state = INITIAL_LANE_STATE;
  frames.forEach(({ provider, frame }, firstSeq) => {
    const stepIndex = provider === 'codex' ? 0 : null;
    const segment: FrameSegment = { firstSeq, provider, stepIndex, attempt: 1, frames: [{ at: firstSeq, frame }] };
    const done = translateSegment(lane, state, segment, translateCodexFrame);
    state = JSON.parse(JSON.stringify(done.state)) as typeof state;
    operations.push(...done.operations);
    dispositions.push(...done.dispositions);
  });
  return { operations, dispositions };
}

function shown(operation: LogOperation): string {
  if (operation.op !== 'emit') return JSON.stringify(operation);
  const { identity, ...event } = operation.event as unknown as Record<string, unknown> & { identity: object };
  const { schemaVersion: _v, eventId: _e, runId: _r, threadId: _t, turnId: _u, ts: _s, ...body } = event;
  const { nativeSessionId } = identity as { nativeSessionId?: string };
  return JSON.stringify(nativeSessionId === undefined ? body : { ...body, child: nativeSessionId });
}

describe('what a recorded codex app-server says', () => {
  const scenarios = readdirSync(FIXTURES).filter((name) => name.endsWith('.jsonl'));

  it.each(scenarios)('%s is said in the canonical grammar', async (scenario) => {
    const { operations } = replay(scenario);
    const lines = operations.map((operation) => `${shown(operation)}\n`).join('');
    await expect(lines).toMatchFileSnapshot(`__golden__/${scenario}`);
  });

  it.each(scenarios)('%s leaves no frame without events or a reason', (scenario) => {
    const { operations, dispositions } = replay(scenario);
    for (const { kinds, suppressed } of dispositions) expect(kinds.length > 0 || suppressed !== undefined).toBe(true);
    expect(operations.map(shown).join('\n')).not.toContain('native event without a mapping');
    expect(operations.map(shown).join('\n')).not.toContain('left out');
  });
});
