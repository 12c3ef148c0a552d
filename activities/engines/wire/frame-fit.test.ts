import { describe, expect, test } from 'vitest';
import { boundFrame, FRAME_LIMIT_BYTES, utf8Bytes } from '../../../contract/frames.ts';
import type { WireFrame } from './wire-frame.ts';
import { fitted, piecesOf } from './frame-fit.ts';

const frame = (result: unknown): WireFrame => ({ type: 'session/new:result', dir: 'recv', id: 1, result });

describe('a frame', () => {
  test('that is small stays as it is', () => {
    const small = frame({ sessionId: 's', modes: null, list: [1, true, 'x'] });
    expect(fitted(small)).toEqual(small);
  });

  test('with a long text shows its beginning', () => {
    const { result } = fitted(frame({ text: 'x'.repeat(5_000) })) as { result: { text: string } };
    expect(result.text).toBe(`${'x'.repeat(4_000)}...[1000 chars]`);
  });

  test.each([
    ['thousands of models', { models: Array.from({ length: 5_000 }, (_, n) => ({ id: `model-${String(n)}` })) }],
    [
      'a large table',
      Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`key-${String(n)}`, 'value'.repeat(9)])),
    ],
    ['texts of four bytes', { texts: Array.from({ length: 50 }, () => '😀'.repeat(2_000)) }],
    ['lists in lists', { deep: Array.from({ length: 60 }).reduce<unknown>((inner) => [inner, 'x'.repeat(900)], null) }],
  ])('with %s is one that the lane takes as it is', (_, result) => {
    const fit = fitted(frame(result));
    expect(utf8Bytes(JSON.stringify(fit))).toBeLessThanOrEqual(FRAME_LIMIT_BYTES);
    expect(boundFrame(fit)).toBe(fit);
    expect(fit).toMatchObject({ type: 'session/new:result', dir: 'recv', id: 1, result: expect.anything() });
  });

  test('whose lists were cut says so', () => {
    const models = Array.from({ length: 5_000 }, (_, n) => `model-${String(n)}`);
    expect(fitted(frame({ models }))).toMatchObject({ _shortened: true });
  });
});

test('a text in pieces is whole, and no character is cut', () => {
  const text = `x${'😀'.repeat(6_000)}`;
  const pieces = piecesOf(text);
  expect(pieces.join('')).toBe(text);
  for (const piece of pieces) expect(piece.isWellFormed()).toBe(true);
});
