import { EventSchema } from '@ag-ui/core/schemas';
import { fc } from '../property-testkit.ts';
import { describe, expect, it } from 'vitest';
import type { LifecycleEvent } from '../lifecycle.ts';
import { agUiEncoder } from './ag-ui.ts';
import { agUiLegacyEncoder } from './ag-ui-legacy.ts';
import { customEncoder } from './custom.ts';
import { displayText } from './custom-display.ts';
import { lifecycleEncoder } from './lifecycle.ts';
import type { LegEncoder } from './lifecycle-encoding.ts';
import { legalLeg } from './lifecycle-sequences.testsuite.ts';
import { parseSse, type ParsedEvent } from './lifecycle-sse-parser.testsuite.ts';

const RUNS = 150;

/** One frame and nothing else: fixed words, one line of data, an empty line. */
const FRAME = /^(?:id: \d+\n)?event: [A-Za-z_.]+\ndata: \{[^\r\n]*\}\n\n$/;

type Json = Readonly<Record<string, unknown>>;

/** The leg through an encoder, a relay that forwards single bytes, and a reader. */
function relay<State>(encoder: LegEncoder<State>, leg: readonly LifecycleEvent[]): (ParsedEvent & { json: Json })[] {
  let state = encoder.initial;
  const frames: string[] = [];
  for (const [i, event] of leg.entries()) {
    const encoded = encoder.encode(state, event, { agentName: 'Ada\n\ndata: {}', deliverySeq: i + 1 });
    state = encoded.state;
    frames.push(...encoded.frames);
  }
  for (const frame of frames) {
    expect(frame).toMatch(FRAME);
    expect(frame.isWellFormed()).toBe(true);
  }
  const read = parseSse(new TextEncoder().encode(frames.join('')));
  expect(read).toHaveLength(frames.length);
  return read.map((event) => ({ ...event, json: JSON.parse(event.data) as Json }));
}

function ofType<T extends LifecycleEvent['type']>(leg: readonly LifecycleEvent[], ...types: readonly T[]) {
  return leg.filter((event): event is Extract<LifecycleEvent, { type: T }> =>
    (types as readonly string[]).includes(event.type),
  );
}

function spoken(leg: readonly LifecycleEvent[]): string[] {
  return ofType(leg, 'text.delta').flatMap(({ data }) => (data.delta === '' ? [] : [data.delta]));
}

function outcomes(leg: readonly LifecycleEvent[]) {
  return ofType(leg, 'tool.finished', 'tool.error');
}

describe('whatever a run says, its bytes are whole frames that say the same', () => {
  it('lifecycle: every event comes back as it was', () => {
    fc.assert(
      fc.property(legalLeg(80), (leg) => {
        const read = relay(lifecycleEncoder, leg);
        expect(read.map(({ json }) => json)).toEqual(JSON.parse(JSON.stringify(leg)));
        expect(read.map(({ event }) => event)).toEqual(leg.map(({ type }) => type));
      }),
      { numRuns: RUNS },
    );
  });

  it('custom: text, calls, outcomes and the one ending', () => {
    fc.assert(
      fc.property(legalLeg(80), (leg) => {
        const read = relay(customEncoder, leg);
        const named = (name: string) => read.filter(({ event }) => event === name).map(({ json }) => json);
        expect(named('content').map(({ text }) => text)).toEqual(spoken(leg));
        expect(new Set(named('tool_start').map(({ tool_call_id }) => tool_call_id))).toEqual(
          new Set(ofType(leg, 'tool.started').map(({ data }) => data.tool_call_id)),
        );
        expect(named('tool_end').map(({ tool_call_id, result, error }) => [tool_call_id, result, error])).toEqual(
          outcomes(leg).map(({ type, data }) =>
            type === 'tool.error'
              ? [data.tool_call_id, undefined, data.message]
              : [data.tool_call_id, data.result === '' ? undefined : displayText(data.result), undefined],
          ),
        );
        expect(named('warning').map(({ message }) => message)).toEqual(
          ofType(leg, 'warning').map(({ data }) => data.message),
        );
        const endings = read.filter(({ event }) => ['done', 'input_required', 'error'].includes(event));
        const isSilent = leg.at(-1)?.type === 'run.cancelled';
        expect(endings).toHaveLength(isSilent ? 0 : 1);
        if (!isSilent) expect(read.at(-1)).toBe(endings[0]);
      }),
      { numRuns: RUNS },
    );
  });

  it('ag-ui-legacy: text, calls, outcomes, balanced messages, and nothing after the ending', () => {
    fc.assert(
      fc.property(legalLeg(80), (leg) => {
        const read = relay(agUiLegacyEncoder, leg);
        const named = (name: string) => read.filter(({ event }) => event === name).map(({ json }) => json);
        expect(read.every(({ event, json }) => json['type'] === event)).toBe(true);
        expect(named('TEXT_MESSAGE_CONTENT').map(({ delta }) => delta)).toEqual(spoken(leg));
        const ended = outcomes(leg).map(({ data }) => data.tool_call_id);
        expect(named('TOOL_CALL_END').map(({ toolCallId }) => toolCallId)).toEqual(ended);
        expect(named('TOOL_CALL_RESULT').map(({ content }) => content)).toEqual(
          outcomes(leg).flatMap(({ type, data }) => {
            const text = type === 'tool.finished' ? data.result : `ERROR: ${data.message}`;
            return text === '' ? [] : [displayText(text)];
          }),
        );
        const isSilent = leg.at(-1)?.type === 'run.cancelled';
        const starts = named('TOOL_CALL_START').length;
        if (!isSilent) expect(named('TOOL_CALL_ARGS')).toHaveLength(starts);
        if (!isSilent) expect(named('TEXT_MESSAGE_END')).toHaveLength(named('TEXT_MESSAGE_START').length);
        const endings = read.filter(({ event }) => event === 'RUN_FINISHED' || event === 'RUN_ERROR');
        expect(endings).toHaveLength(isSilent ? 0 : 1);
        if (!isSilent) expect(read.at(-1)).toBe(endings[0]);
      }),
      { numRuns: RUNS },
    );
  });

  it('ag-ui: every event is one of the protocol, and carries its cursor as the frame does', () => {
    fc.assert(
      fc.property(legalLeg(80), (leg) => {
        const read = relay(agUiEncoder, leg);
        expect(read.every(({ event, json }) => json['type'] === event)).toBe(true);
        for (const { json } of read) expect(EventSchema.safeParse(json).success).toBe(true);
        const cursors = read.map(({ json }) => (json['metadata'] as Json)['deliverySeq']);
        expect(cursors.map(String)).toEqual(read.map(({ id }) => id));
        const deltas = read.filter(({ event }) => event === 'TEXT_MESSAGE_CONTENT').map(({ json }) => json['delta']);
        expect(deltas).toEqual(spoken(leg));
      }),
      { numRuns: RUNS },
    );
  });
});
