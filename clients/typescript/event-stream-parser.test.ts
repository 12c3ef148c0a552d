import { fc } from '../../contract/property-testkit.ts';
import { describe, expect, it } from 'vitest';
import { EventStreamParser, type StreamBlock } from './event-stream-parser.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const blocksOf = (...parts: readonly Uint8Array[]): StreamBlock[] => {
  const parser = new EventStreamParser();
  return parts.flatMap((part) => parser.push(part));
};

describe('a stream of server-sent events', () => {
  it('is read by the rules of its standard', () => {
    const said = [
      '\u{feff}: a comment\n\nid: 7\nevent: canonical\ndata: {"a":1}\n\n',
      'data:no space\ndata:  two spaces\ndata\n\n',
      'id: 8\n\nretry: 250\n\nretry: soon\nunknown: x\n\n',
      'id: with\0nul\ndata: x\n\n',
    ].join('');
    const none = { id: null, event: 'message', data: null, retryMs: null };
    expect(blocksOf(bytes(said))).toEqual([
      none,
      { id: '7', event: 'canonical', data: '{"a":1}', retryMs: null },
      { ...none, data: 'no space\n two spaces\n' },
      { ...none, id: '8' },
      { ...none, retryMs: 250 },
      none,
      { ...none, data: 'x' },
    ]);
  });

  it.each(['\n', '\r\n', '\r'])('is the same whatever ends its lines (%j)', (end) => {
    const [block] = blocksOf(bytes(`id: 1${end}data: a${end}data: b${end}${end}data: next${end}${end}:`));
    expect(block).toEqual({ id: '1', event: 'message', data: 'a\nb', retryMs: null });
  });

  it('is the same wherever its bytes were cut', () => {
    const said = bytes(': open\r\nretry: 1\r\n\r\nid: 1\ndata: ñ 你好 🌍\n\nevent: x\rdata: y\r\rid: 2\n\n');
    const whole = blocksOf(said);
    const cuts = fc.array(fc.nat({ max: said.length }), { maxLength: 12 });
    fc.assert(
      fc.property(cuts, (at) => {
        const places = [0, ...at.toSorted((a, b) => a - b), said.length];
        const parts = places.slice(1).map((end, i) => said.subarray(places[i], end));
        expect(blocksOf(...parts)).toEqual(whole);
      }),
    );
    expect(blocksOf(...Array.from(said, (byte) => Uint8Array.of(byte)))).toEqual(whole);
  });

  it('gives nothing of a block that has not ended', () => {
    expect(blocksOf(bytes('id: 1\ndata: {"half":'))).toEqual([]);
    expect(blocksOf(bytes('id: 1\ndata: {}\n'))).toEqual([]);
  });

  it('that is no UTF-8 is refused', () => {
    expect(() => blocksOf(Uint8Array.of(0x64, 0xff, 0x0a))).toThrow(TypeError);
  });
});
