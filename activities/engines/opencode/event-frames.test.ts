import { describe, expect, it } from 'vitest';
import { fc } from '../../../contract/property-testkit.ts';
import { EventFrames } from './event-frames.ts';
import { newOutput } from './tool-output.ts';

const place = { sessionID: 'ses_1', messageID: 'msg_1' };
const delta = (text: string) => ({
  id: null,
  type: 'message.part.delta',
  properties: { ...place, partID: 'prt_1', field: 'text', delta: text },
});
const part = (fields: object) => ({
  id: null,
  type: 'message.part.updated',
  properties: { sessionID: 'ses_1', part: { ...place, id: 'prt_1', ...fields } },
});
const begun = part({ type: 'text', text: '' });
const whole = (text: string) => part({ type: 'text', text, time: { start: 1, end: 2 } });
const printed = (output: string, status = 'running') =>
  part({ type: 'tool', tool: 'bash', callID: 'c', state: { status, input: {}, metadata: { output, exit: 0 } } });

/** The pieces in the frames of some events. */
function piecesIn(frames: EventFrames, ...events: Parameters<EventFrames['framesOf']>[0][]): string[] {
  return events
    .flatMap((event) => frames.framesOf(event))
    .flatMap(({ type, params }) => (type === 'message.part.delta' ? [(params as { delta: string }).delta] : []));
}

describe('the frames of events', () => {
  it('have each text once, also of a text that came whole', () => {
    expect(piecesIn(new EventFrames(), begun, delta('Hel'), delta('lo'), whole('Hello'))).toEqual(['Hel', 'lo']);
    expect(piecesIn(new EventFrames(), whole('Hello'), whole('Hello'))).toEqual(['Hello']);
  });

  it('leave out no text that was missed: its end has it', () => {
    const frames = new EventFrames();
    expect(piecesIn(frames, begun, delta('Hello '))).toEqual(['Hello ']);
    frames.breakTexts();
    expect(piecesIn(frames, delta('!'), whole('Hello world!'), delta('late'))).toEqual(['', 'world!', '']);
  });

  it('hold a long piece in several', () => {
    const long = 'x'.repeat(9_000);
    const pieces = piecesIn(new EventFrames(), delta(long));
    expect(pieces.length).toBeGreaterThan(1);
    expect(pieces.join('')).toBe(long);
  });

  it('have of a command what is new of its output', () => {
    const frames = new EventFrames();
    expect(piecesIn(frames, printed(''), printed('a\n'), printed('a\nb\n'), printed('a\nb\n', 'completed'))).toEqual([
      'a\n',
      'b\n',
    ]);
    const [frame] = new EventFrames().framesOf(printed('', 'completed'));
    expect(frame?.params).toMatchObject({ part: { state: { metadata: { exit: 0 } } } });
  });

  it('lose nothing of an output that only grows, and say where its beginning was left out', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), (chunks) => {
        let before = '';
        const pieces = chunks.map((chunk) => {
          const now = before + chunk;
          const piece = newOutput(before, now);
          before = now;
          return piece;
        });
        expect(pieces.join('')).toBe(chunks.join(''));
      }),
    );
    const before = Array.from({ length: 100 }, (_, n) => `line ${String(n)}\n`).join('');
    expect(newOutput(before, `...\n\n${before.slice(500)}and more\n`)).toBe('and more\n');
    expect(newOutput(before, 'something else')).toBe('\n…\nsomething else');
  });
});
