import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ShownOutput } from './shown-output.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function shownOutput() {
  const pieces: string[] = [];
  return { pieces, output: new ShownOutput((text) => pieces.push(text)) };
}

describe('an output that is shown while it comes', () => {
  it('comes in pieces, none of which waits for the end', () => {
    const { pieces, output } = shownOutput();
    output.append(Buffer.from('one '));
    output.append(Buffer.from('two '));
    expect(pieces).toEqual([]);
    vi.advanceTimersByTime(200);
    expect(pieces).toEqual(['one two ']);
    output.append(Buffer.from('three'));
    output.end();
    expect(pieces).toEqual(['one two ', 'three']);
  });

  it('of an hour is some hundreds of pieces', () => {
    const { pieces, output } = shownOutput();
    for (let second = 0; second < 3_600; second++) {
      output.append(Buffer.from('still at it\n'));
      vi.advanceTimersByTime(1_000);
    }
    output.end();
    expect(pieces.length).toBeLessThan(1_000);
    expect(pieces.join('').length).toBe(3_600 * 12);
  });

  it('is shown whole characters, wherever a chunk ends', () => {
    const { pieces, output } = shownOutput();
    for (const byte of Buffer.from('ñ🌍')) {
      output.append(Buffer.from([byte]));
      vi.advanceTimersByTime(1_000);
    }
    output.end();
    expect(pieces).toEqual(['ñ', '🌍']);
  });

  it('ends at the limit, and says so', () => {
    const { pieces, output } = shownOutput();
    for (let i = 0; i < 100; i++) output.append(Buffer.alloc(10_000, 'x'));
    output.end();
    const text = pieces.join('');
    expect(text.length).toBeLessThan(263_000);
    expect(text).toMatch(/^x{262144}\n\[the output goes on; it is shown no further\]\n$/);
  });

  it('shows nothing after its end', () => {
    const { pieces, output } = shownOutput();
    output.end();
    output.append(Buffer.from('late'));
    vi.advanceTimersByTime(10_000);
    expect(pieces).toEqual([]);
  });
});
