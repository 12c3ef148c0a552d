import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { EngineLimits } from '../engines/driver.ts';
import { TurnWatchdog, type LimitReached } from './turn-watchdog.ts';

const LIMITS: EngineLimits = { stallMs: 10_000, toolStallMs: 60_000, turnMs: 300_000, hotMs: 1_000 };

let reached: LimitReached[];
let watchdog: TurnWatchdog;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  reached = [];
  watchdog = new TurnWatchdog(LIMITS, (limit) => reached.push(limit));
});
afterEach(() => {
  watchdog.stop();
  vi.useRealTimers();
});

describe('the watchdog of a turn', () => {
  it('ends an engine that says nothing for its limit, once', () => {
    vi.advanceTimersByTime(9_000);
    watchdog.heard();
    vi.advanceTimersByTime(9_500);
    expect(reached).toEqual([]);
    vi.advanceTimersByTime(60_000);
    expect(reached).toEqual([{ code: 'engine_stalled', message: 'the engine said nothing for 10 s' }]);
  });

  it('gives a tool that runs its own, longer limit', () => {
    watchdog.expect('tool');
    vi.advanceTimersByTime(59_000);
    expect(reached).toEqual([]);
    vi.advanceTimersByTime(2_000);
    expect(reached).toMatchObject([
      { code: 'engine_stalled', message: 'the engine said nothing for 60 s while a tool ran' },
    ]);
  });

  it('does not count the time in which a person is asked', () => {
    const release = watchdog.hold();
    vi.advanceTimersByTime(3_600_000);
    release();
    vi.advanceTimersByTime(9_000);
    expect(reached).toEqual([]);
    vi.advanceTimersByTime(2_000);
    expect(reached).toHaveLength(1);
  });

  it('ends a turn that talks for longer than it may', () => {
    for (let spoken = 0; spoken < 301; spoken++) {
      watchdog.heard();
      vi.advanceTimersByTime(1_000);
    }
    expect(reached).toEqual([{ code: 'engine_time_limit', message: 'the turn took longer than 300 s' }]);
  });

  it('takes no silence from a process that was stopped itself', () => {
    vi.setSystemTime(0);
    const now = vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 3_600_000);
    vi.advanceTimersByTime(250);
    now.mockRestore();
    expect(reached).toEqual([]);
  });
});
