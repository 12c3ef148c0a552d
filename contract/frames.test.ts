import { fc } from './property-testkit.ts';
import { describe, expect, it } from 'vitest';
import { boundFrame, FRAME_LIMIT_BYTES, previewText, utf8Bytes } from './frames.ts';

describe('frames', () => {
  it('are kept as they came up to 32 KiB, and replaced by what was cut above', () => {
    const small = { type: 'text-delta', delta: 'x'.repeat(FRAME_LIMIT_BYTES - 100) };
    expect(boundFrame(small)).toBe(small);
    const large = boundFrame({ type: 'text-delta', delta: '€'.repeat(FRAME_LIMIT_BYTES) });
    expect(large).toMatchObject({ type: 'text-delta', _truncated: true });
    expect(large['_originalBytes']).toBeGreaterThan(FRAME_LIMIT_BYTES);
  });

  it('never serialise to more than the limit', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 50 }), fc.string({ unit: 'binary', maxLength: 40_000 }), (type, body) => {
        const text = JSON.stringify(boundFrame({ type, body }));
        expect(Buffer.byteLength(text)).toBeLessThanOrEqual(FRAME_LIMIT_BYTES);
      }),
      { numRuns: 30 },
    );
  });

  it('count bytes as UTF-8 does', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(utf8Bytes(text)).toBe(Buffer.byteLength(text));
      }),
    );
  });

  it('are previewed without cutting a surrogate pair', () => {
    expect(previewText('ab🌍cd', 3)).toBe('ab...[4 chars]');
    expect(previewText('short', 5)).toBe('short');
  });
});
