import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { inject } from 'vitest';
import { createTestDatabase } from '../../../../infra/testing/database.ts';
import { JsonlSessions } from './jsonl-sessions.ts';
import { PostgresSessions } from './postgres-sessions.ts';
import { sessionBackendSuite } from './session-backend.testsuite.ts';

let made = 0;

sessionBackendSuite('PostgreSQL', async () => {
  const database = await createTestDatabase();
  const { pool } = database;
  return {
    backend: new PostgresSessions({ pool, model: 'openai/m' }),
    newScope: () => ({ tenantId: `tenant ${String(made++)}` }),
    other: () => new PostgresSessions({ pool, model: 'openai/m' }),
    stop: async () => await database.drop(),
  };
});

sessionBackendSuite('JSON Lines', async () => {
  const folder = await mkdtemp(join(inject('scratch'), 'sessions-'));
  const log = pino({ enabled: false });
  return {
    backend: new JsonlSessions({ folder, log }),
    newScope: () => ({ cwd: `/home/ada/place ${String(made++)}` }),
    other: () => new JsonlSessions({ folder, log }),
    stop: async () => await Promise.resolve(),
  };
});
