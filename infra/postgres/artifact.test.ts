import { hash, randomBytes } from 'node:crypto';
import { fc } from '../../contract/property-testkit.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../testing/database.ts';
import { findArtifact, putArtifact, readArtifact, type ByteSpan } from './artifact.ts';

const CHUNK = 256 * 1024;
let db: TestDatabase;

beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(async () => {
  await db?.drop();
});

async function* inParts(content: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < content.length; at += size) yield await Promise.resolve(content.subarray(at, at + size));
}

const put = async (content: Buffer | AsyncIterable<Uint8Array>, tenantId = 'default') =>
  await putArtifact(db.pool, { tenantId, contentType: 'text/plain', content });

async function read(artifactId: string, span: ByteSpan): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of readArtifact(db.pool, artifactId, span)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function count(table: string): Promise<number> {
  const { rows } = await db.pool.query<{ n: number }>(`select count(*) as n from ${table}`);
  return rows[0]?.n ?? -1;
}

describe('an artifact', () => {
  it('comes back byte for byte, whole and in any span, whatever the parts it came in', async () => {
    const sizes = fc.constantFrom(1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 2 * CHUNK + 7);
    const parts = fc.constantFrom(1_000, 65_536, CHUNK, CHUNK * 3);
    const point = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true });
    await fc.assert(
      fc.asyncProperty(sizes, parts, point, point, async (size, part, a, b) => {
        const content = randomBytes(size);
        const { artifactId, bytes, sha256 } = await put(inParts(content, part));
        expect({ bytes, sha256 }).toEqual({ bytes: size, sha256: hash('sha256', content) });
        expect((await read(artifactId, { first: 0, last: size - 1 })).equals(content)).toBe(true);
        const [first, last] = [Math.floor(a * size), Math.floor(b * size)].toSorted((x, y) => x - y) as [
          number,
          number,
        ];
        expect((await read(artifactId, { first, last })).equals(content.subarray(first, last + 1))).toBe(true);
      }),
      { numRuns: 15 },
    );
  });

  it('may be empty', async () => {
    const { artifactId, bytes } = await put(Buffer.alloc(0));
    expect(bytes).toBe(0);
    expect(await read(artifactId, { first: 0, last: -1 })).toHaveLength(0);
  });

  it('is one for the same content, however often and at once it is stored, and its first type stays', async () => {
    const content = randomBytes(CHUNK + 5);
    const before = await count('artifact_chunk');
    const sources = Array.from({ length: 8 }, (_, i) => (i % 2 === 0 ? content : inParts(content, 9_999)));
    const refs = await Promise.all(sources.map(async (source) => await put(source)));
    expect(new Set(refs.map(({ artifactId }) => artifactId)).size).toBe(1);
    expect(await count('artifact_chunk')).toBe(before + 2);
    const again = await putArtifact(db.pool, { tenantId: 'default', contentType: 'text/html', content });
    expect(again).toEqual(refs[0]);
  });

  it('is another in another tenant, and neither finds the other’s', async () => {
    const content = randomBytes(10);
    const [own, foreign] = [await put(content), await put(content, 'other')];
    expect(own.sha256).toBe(foreign.sha256);
    expect(own.artifactId).not.toBe(foreign.artifactId);
    expect(await findArtifact(db.pool, 'default', own.artifactId)).toEqual({ artifact: own, name: null });
    expect(await findArtifact(db.pool, 'default', foreign.artifactId)).toBeNull();
  });

  it('leaves nothing when its content fails on the way', async () => {
    const before = [await count('artifact'), await count('artifact_chunk')];
    const failing = async function* (): AsyncGenerator<Buffer> {
      yield await Promise.resolve(randomBytes(CHUNK + 1));
      throw new Error('the source broke');
    };
    await expect(put(failing())).rejects.toThrow('the source broke');
    expect([await count('artifact'), await count('artifact_chunk')]).toEqual(before);
  });

  it('that is erased while it is read is an error, not a shorter one; its chunks go with it', async () => {
    const { artifactId } = await put(randomBytes(CHUNK * 2));
    const reading = readArtifact(db.pool, artifactId, { first: 0, last: CHUNK * 2 - 1 });
    await reading.next();
    await db.pool.query('delete from artifact where artifact_id = $1', [artifactId]);
    await expect(reading.next()).rejects.toThrow('was erased');
    const { rows } = await db.pool.query('select from artifact_chunk where artifact_id = $1', [artifactId]);
    expect(rows).toEqual([]);
  });
});
