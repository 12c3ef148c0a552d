import { fc } from './property-testkit.ts';
import { describe, expect, it } from 'vitest';
import { CAPABILITY_FLAGS, normalizeNegotiatedCapabilities } from './capabilities.ts';

describe('negotiated capabilities', () => {
  it('are 20 flags, every one present whatever an engine says', () => {
    expect(CAPABILITY_FLAGS).toHaveLength(20);
    fc.assert(
      fc.property(fc.anything(), (raw) => {
        const flags = normalizeNegotiatedCapabilities(raw);
        expect(Object.keys(flags)).toEqual([...CAPABILITY_FLAGS]);
        expect(Object.values(flags).every((value) => typeof value === 'boolean')).toBe(true);
      }),
    );
  });

  it('are true only for exactly true, and unknown keys are dropped', () => {
    const raw = { reasoning: true, plans: 1, usage: 'true', teleport: true };
    const flags = normalizeNegotiatedCapabilities(raw);
    expect(flags.reasoning).toBe(true);
    expect(flags.plans).toBe(false);
    expect(flags.usage).toBe(false);
    expect(flags).not.toHaveProperty('teleport');
  });
});
