import { hash, randomBytes } from 'node:crypto';
import { createServer, get, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import express from 'express';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { putArtifact } from '../../infra/postgres/artifact.ts';
import { createTestDatabase, type TestDatabase } from '../../infra/testing/database.ts';
import type { Gateway } from '../gateway.ts';
import { artifactRoutes } from './artifacts.ts';

const CHUNKS = 128;
const content = randomBytes(CHUNKS * 256 * 1024);
let db: TestDatabase;
let server: Server;
let path: string;
let reads = 0;
const failures: unknown[] = [];

beforeAll(async () => {
  db = await createTestDatabase();
  const counted = {
    query: async (query: { name: string; text: string }) => {
      if (query.name === 'artifact-read') reads += 1;
      return await db.pool.query(query);
    },
  };
  const app = express();
  app.use((_req, res, next) => {
    res.locals['tenantId'] = 'default';
    next();
  });
  app.use(artifactRoutes({ pool: counted } as unknown as Gateway));
  app.use(((error, _req, res, _next) => {
    failures.push(error);
    res.destroy();
  }) as express.ErrorRequestHandler);
  server = createServer(app);
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { artifactId } = await putArtifact(db.pool, {
    tenantId: 'default',
    contentType: 'application/octet-stream',
    content,
  });
  path = `/artifacts/${artifactId}`;
});
afterAll(async () => {
  server?.closeAllConnections();
  server?.close();
  await db?.drop();
});
beforeEach(() => {
  reads = 0;
  failures.length = 0;
});

async function open(): Promise<IncomingMessage> {
  const { port } = server.address() as AddressInfo;
  return await new Promise((resolve, reject) => {
    get({ port, path, agent: false }, resolve).on('error', reject);
  });
}

/** How many chunks were read once no more are. */
async function readsAtRest(): Promise<number> {
  for (let before = -1; before !== reads;) {
    before = reads;
    await sleep(200);
  }
  return reads;
}

describe('an artifact on its way to a client', () => {
  it('that reads slowly is read from the database no faster, and arrives whole', async () => {
    const res = await open();
    expect(await readsAtRest()).toBeLessThan(CHUNKS / 2);
    const chunks: Buffer[] = [];
    for await (const chunk of res) chunks.push(chunk as Buffer);
    expect(hash('sha256', Buffer.concat(chunks))).toBe(hash('sha256', content));
    expect(reads).toBe(CHUNKS);
    expect(failures).toEqual([]);
  });

  it('that goes away is read no further, and that is no failure', async () => {
    const res = await open();
    res.on('error', () => undefined);
    res.destroy();
    expect(await readsAtRest()).toBeLessThan(CHUNKS / 2);
    expect(failures).toEqual([]);
  });

  it('and erased meanwhile breaks off: the client sees that it is not the whole', async () => {
    const res = await open();
    await readsAtRest();
    await db.pool.query('delete from artifact');
    const receiving = (async () => {
      for await (const _ of res);
    })();
    await expect(receiving).rejects.toThrow('aborted');
    expect(failures).toHaveLength(1);
  });
});
