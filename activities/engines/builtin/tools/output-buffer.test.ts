import { fc } from '../../../../contract/property-testkit.ts';
import { describe, expect, it } from 'vitest';
import { OutputBuffer } from './output-buffer.ts';

const filled = (limitBytes: number, chunks: readonly Uint8Array[]): OutputBuffer => {
  const buffer = new OutputBuffer(limitBytes);
  for (const chunk of chunks) buffer.append(Buffer.from(chunk));
  return buffer;
};

describe('an output buffer', () => {
  it('keeps all that fits, and else its beginning and its end, however the output is cut into chunks', () => {
    const ascii = fc.uint8Array({ maxLength: 40 }).map((bytes) => bytes.map((byte) => byte & 0x7f));
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 32 }), fc.array(ascii, { maxLength: 12 }), (half, chunks) => {
        const all = Buffer.concat(chunks);
        const buffer = filled(half * 2, chunks);
        const { head, leftOutBytes, tail } = buffer.kept;
        expect(buffer.isCut).toBe(all.length > half * 2);
        expect(leftOutBytes).toBe(Math.max(all.length - half * 2, 0));
        expect(Buffer.concat([head, tail])).toEqual(
          buffer.isCut ? Buffer.concat([all.subarray(0, half), all.subarray(-half)]) : all,
        );
      }),
    );
  });

  it('tears no character apart where it cuts', () => {
    fc.assert(
      fc.property(fc.integer({ min: 4, max: 40 }), fc.string({ unit: 'binary', minLength: 60 }), (half, text) => {
        const bytes = Buffer.from(text.toWellFormed());
        const { head, leftOutBytes, tail } = filled(half * 2, [bytes]).kept;
        const decode = (part: Buffer) => new TextDecoder('utf-8', { fatal: true }).decode(part);
        expect(() => decode(head) + decode(tail)).not.toThrow();
        expect(head.length + leftOutBytes + tail.length).toBe(bytes.length);
      }),
    );
  });
});
