import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../infra/testing/database.ts';
import { startAppGateway, type AppGateway } from '../../tests/fixtures/app-gateway.ts';

let database: TestDatabase;
let gateway: AppGateway;

beforeAll(async () => {
  database = await createTestDatabase();
  gateway = await startAppGateway(database.url);
});
afterAll(async () => {
  await gateway.stop();
  await database.drop();
});

describe('GET /v1/engines', () => {
  it('gives each engine with what it can do, and how to install what is missing', async () => {
    const answer = await fetch(`${gateway.url}/v1/engines`);
    const { data, next_cursor } = (await answer.json()) as { data: Record<string, unknown>[]; next_cursor: null };
    expect(next_cursor).toBeNull();
    expect(data.map(({ engine }) => engine)).toEqual(['builtin', 'opencode', 'claude', 'codex', 'gemini', 'pi']);
    expect(data[0]).toMatchObject({ kind: 'builtin', installed: true, default_model: 'scripted/demo' });
    expect(data[0]?.['models']).toContain('scripted/text');
    for (const row of data.slice(1)) {
      expect(row).toMatchObject({ models: null, default_model: null, capabilities: { streamingText: true } });
      expect(row['installed'] === true).toBe(row['how_to_install'] === null);
    }
  });

  it('names them to AG-UI clients too', async () => {
    const answer = await fetch(`${gateway.url}/v1/ag-ui/opencode`);
    expect(await answer.json()).toMatchObject({
      identity: {
        name: 'opencode',
        metadata: { engines: expect.arrayContaining(['codex']), default_model: 'default' },
      },
    });
  });
});
