import { describe, expect, it } from 'vitest';
import { renderedDocument, tableOf } from './table.ts';

describe('the table of engines in the documentation', () => {
  it('is that of the records; `node tests/engines/table.ts` writes it', async () => {
    const { now, should } = await renderedDocument();
    expect(now).toBe(should);
  });

  it('claims nothing that did not pass', () => {
    const table = tableOf([
      { engine: 'one', scenarios: { text: 'passed', tool: 'failed', plan: { cannot: 'no plans' } } },
    ]);
    expect(table).toContain('| text | yes |');
    expect(table).toContain('| tool |  |');
    expect(table).toContain('| reasoning |  |');
    expect(table).toContain('| plan | – (1) |');
    expect(table).toMatch(/\n\n\(1\) no plans$/);
  });
});
