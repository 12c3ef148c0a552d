import { describe, expect, it } from 'vitest';
import { fc } from '../../../../contract/property-testkit.ts';
import { mcpToolName, serverOfToolName } from './tool-name.ts';

const none: ReadonlySet<string> = new Set();

describe('the name of a tool', () => {
  it('is its own behind its server’s', () => {
    expect(mcpToolName('docs', 'search_pages', none)).toBe('mcp__docs__search_pages');
    expect(serverOfToolName('mcp__my-docs__a__b')).toBe('my-docs');
    expect(serverOfToolName('read_file')).toBeNull();
  });

  it.each(['search pages', 'πage', 'a/b', '', 'x'.repeat(60)])(
    'that no model API takes (%j) ends in a digest',
    (tool) => {
      const name = mcpToolName('docs', tool, none);
      expect(name).toMatch(/^mcp__docs__[a-zA-Z0-9_-]*_[0-9a-f]{8}$/);
      expect(name.length).toBeLessThanOrEqual(64);
      expect(mcpToolName('docs', tool, none)).toBe(name);
    },
  );

  it('is one that a model API takes and never one that is taken, whatever the tool is called', () => {
    const names = fc.array(fc.string({ unit: 'binary', maxLength: 100 }), { maxLength: 20 });
    fc.assert(
      fc.property(names, (tools) => {
        const taken = new Set<string>();
        for (const tool of tools) {
          const name = mcpToolName('a-server-of-24-characte', tool, taken);
          expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
          expect(taken.has(name)).toBe(false);
          taken.add(name);
        }
      }),
    );
  });
});
