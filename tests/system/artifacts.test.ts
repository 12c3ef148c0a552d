import { hash, randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ArtifactRef } from '../../contract/canonical.ts';
import { putArtifact } from '../../infra/postgres/artifact.ts';
import type { Problem, Run, SaidEvent } from '../fixtures/rest.ts';
import { useWorld } from '../fixtures/world.ts';

const MIB = 1024 * 1024;
const world = useWorld();

/** A thread whose workspace holds a big file, and what `read_file` says of it. */
async function threadWithFile(text: string): Promise<string> {
  const { run_id: runId, thread_id: threadId } = await world.rest.startRun('ANSWER first');
  await world.rest.settled(runId);
  const workspace = join(world.stack.home, 'workspaces', threadId);
  await mkdir(workspace, { recursive: true, mode: 0o700 });
  await writeFile(join(workspace, 'big.txt'), text);
  return threadId;
}

async function readBig(threadId: string): Promise<Run> {
  return await world.rest.settled((await world.rest.startRun('READBIG now', {}, threadId)).run_id);
}

type Told = SaidEvent & { readonly artifact?: ArtifactRef; readonly preview?: string; readonly name?: string };

async function toldOf(run: Run, kind: string): Promise<Told[]> {
  return (await world.rest.events(run)).filter((event) => event.kind === kind);
}

async function holds(run: Run): Promise<boolean> {
  return (await world.rest.send<{ holds: boolean }>('GET', `/v1/runs/${run.run_id}/verify`)).body.holds;
}

interface Listed {
  readonly data: readonly Record<string, unknown>[];
  readonly next_cursor: string | null;
}

const listOf = async (run: Pick<Run, 'run_id'>, query = '') =>
  (await world.rest.send<Listed>('GET', `/v1/runs/${run.run_id}/artifacts${query}`)).body;

async function get(artifactId: string, headers: Record<string, string> = {}, method = 'GET') {
  const res = await fetch(`${world.stack.url}/v1/artifacts/${artifactId}`, { method, headers });
  const body = Buffer.from(await res.arrayBuffer());
  return { status: res.status, body, header: (name: string) => res.headers.get(name) };
}

const lines = (seed: string) => Array.from({ length: 20_000 }, (_, i) => `${seed} ${String(i)} ñ你🌍`).join('\n');

it('what a tool changed in a file is kept as a diff, which the event names', async () => {
  const { run_id: runId } = await world.rest.startRun('STORE note.txt');
  const asked = await world.rest.until(
    'the approval',
    async () => (await world.rest.run(runId)).pending_interrupts[0] ?? null,
  );
  await world.rest.resolve(asked.interrupt_id, { decision: 'approve' });
  const run = await world.rest.settled(runId);
  const [changed] = await toldOf(run, 'file.changed');
  const diff = changed?.['diff'] as ArtifactRef | undefined;
  expect(changed).toMatchObject({
    path: 'note.txt',
    changeType: 'create',
    diff: { contentType: 'text/x-diff; charset=utf-8' },
  });
  const { status, body } = await get(diff?.artifactId ?? '');
  expect(status).toBe(200);
  expect(body.toString()).toMatch(/^\+\+\+ b\/note\.txt/m);
  expect((await listOf(run)).data).toMatchObject([{ artifact_id: diff?.artifactId }]);
  expect(await holds(run)).toBe(true);
});

describe('a tool result over the preview bound', () => {
  it('is an artifact: said before the result that refers to it, readable whole, linked to the run, proven', async () => {
    const text = lines('whole').slice(0, 100_000);
    const run = await readBig(await threadWithFile(text));
    const events = await world.rest.events(run);
    const [created] = await toldOf(run, 'artifact.created');
    const [completed] = await toldOf(run, 'tool.completed');
    const artifact = created?.artifact;
    expect(completed).toMatchObject({ status: 'ok', artifact });
    expect(created?.seq).toBe((completed?.seq ?? 0) - 1);
    expect(completed?.preview?.length).toBeLessThan(2_100);
    expect(artifact).toMatchObject({ bytes: Buffer.byteLength(text), sha256: hash('sha256', text) });
    const { status, body, header } = await get(artifact?.artifactId ?? '');
    expect(status).toBe(200);
    expect(body.toString()).toBe(text);
    expect(header('content-type')).toBe('text/plain; charset=utf-8');
    expect(await listOf(run)).toMatchObject({
      data: [{ artifact_id: artifact?.artifactId, name: created?.name, bytes: body.length, sha256: artifact?.sha256 }],
      next_cursor: null,
    });
    expect(JSON.stringify(events).length).toBeLessThan(20_000);
    expect(await holds(run)).toBe(true);
  });

  it('is what the model is told, as before', async () => {
    const text = `${'x'.repeat(5_000)}the very end`;
    const run = await readBig(await threadWithFile(text));
    const { rows } = await world.stack.pool.query<{ body: string }>(
      `select body from message where run_id = $1 and role = 'tool-result'`,
      [run.run_id],
    );
    expect(JSON.parse(rows[0]?.body ?? '{}')).toMatchObject({ content: [{ type: 'text', text }] });
  });

  it('of two runs with the same text is one artifact, to which both refer', async () => {
    const threadId = await threadWithFile(lines('same'));
    const runs = [await readBig(threadId), await readBig(threadId)];
    const refs = (await Promise.all(runs.map((run) => toldOf(run, 'tool.completed')))).map(([said]) => said?.artifact);
    expect(refs[0]).toBeDefined();
    expect(refs[1]).toEqual(refs[0]);
    const { rows } = await world.stack.pool.query('select from artifact where sha256 = $1', [refs[0]?.sha256]);
    expect(rows).toHaveLength(1);
    expect((await Promise.all(runs.map((run) => listOf(run)))).map(({ data }) => data.length)).toEqual([1, 1]);
  });

  it('inside the bound is none', async () => {
    const run = await readBig(await threadWithFile('y'.repeat(2_000)));
    expect(await toldOf(run, 'artifact.created')).toEqual([]);
    expect((await toldOf(run, 'tool.completed'))[0]).not.toHaveProperty('artifact');
    expect((await listOf(run)).data).toEqual([]);
  });

  it('whose worker is killed after it is stored and before the step ends: the repeat refers to the same', async () => {
    const text = lines('crash').slice(0, 50_000);
    const threadId = await threadWithFile(text);
    const gate = await world.stack.pool.connect();
    try {
      await gate.query('begin; lock table artifact_link in share mode');
      const { run_id: runId } = await world.rest.startRun('READBIG and die', {}, threadId);
      const stored = () =>
        world.stack.pool.query('select artifact_id from artifact where sha256 = $1', [hash('sha256', text)]);
      await world.rest.until('it is stored', async () => ((await stored()).rowCount === 1 ? true : null));
      await world.rest.until('the step waits to end', async () => {
        const blocked = await world.stack.pool.query(
          `select from pg_locks where not granted and relation = 'artifact_link'::regclass`,
        );
        return blocked.rowCount === 0 ? null : true;
      });
      await world.stack.workers[0]?.kill('SIGKILL');
      expect(await listOf({ run_id: runId })).toEqual({ data: [], next_cursor: null });
      await gate.query('rollback');
      await world.stack.startWorker();
      const run = await world.rest.settled(runId);
      expect(run.status).toBe('completed');
      const [completed] = await toldOf(run, 'tool.completed');
      expect((await stored()).rows).toEqual([{ artifact_id: completed?.artifact?.artifactId }]);
      expect((await listOf(run)).data).toHaveLength(1);
      expect(await holds(run)).toBe(true);
    } finally {
      await gate.query('rollback').catch(() => undefined);
      gate.release();
    }
  }, 120_000);
});

describe('GET /v1/artifacts/{id}', () => {
  const content = randomBytes(MIB + 12_345);
  let ref: ArtifactRef;
  beforeAll(async () => {
    ref = await putArtifact(world.stack.pool, { tenantId: 'default', contentType: 'text/html', content });
  });

  it('lets hostile content be downloaded and nothing else', async () => {
    const { status, body, header } = await get(ref.artifactId);
    expect(status).toBe(200);
    expect(body.equals(content)).toBe(true);
    expect(header('etag')).toBe(`"${ref.sha256}"`);
    expect(header('content-length')).toBe(String(content.length));
    expect(header('content-type')).toBe('text/html');
    expect(header('content-disposition')).toBe(`attachment; filename="${ref.artifactId}"`);
    expect(header('x-content-type-options')).toBe('nosniff');
    expect(header('content-security-policy')).toBe("default-src 'none'; sandbox");
    expect(header('accept-ranges')).toBe('bytes');
    expect(header('cache-control')).toBe('private, no-cache');
  });

  it.each([
    ['bytes=0-0', 0, 0],
    ['bytes=262100-262200', 262_100, 262_200],
    ['bytes=1000000-', 1_000_000, MIB + 12_344],
    ['bytes=-7', MIB + 12_338, MIB + 12_344],
  ])('answers %s with 206 and those bytes', async (range, first, last) => {
    const { status, body, header } = await get(ref.artifactId, { range });
    expect(status).toBe(206);
    expect(header('content-range')).toBe(`bytes ${String(first)}-${String(last)}/${String(content.length)}`);
    expect(header('content-length')).toBe(String(last - first + 1));
    expect(body.equals(content.subarray(first, last + 1))).toBe(true);
  });

  it('answers a range behind the end with 416 and the size', async () => {
    const { status, body, header } = await get(ref.artifactId, { range: `bytes=${String(content.length)}-` });
    expect(status).toBe(416);
    expect(header('content-range')).toBe(`bytes */${String(content.length)}`);
    expect(header('content-type')).toMatch(/^application\/problem\+json/);
    const problem = JSON.parse(body.toString()) as Problem;
    expect(problem).toMatchObject({ code: 'range_not_satisfiable', bytes: content.length });
  });

  it('gives the whole for several ranges and for a part of other content', async () => {
    for (const headers of [
      { range: 'bytes=0-1,5-6' },
      { range: 'bytes=0-1', 'if-range': '"other"' },
      { range: 'lines=1-2' },
    ]) {
      expect(await get(ref.artifactId, headers)).toMatchObject({ status: 200, body: { length: content.length } });
    }
    const part = await get(ref.artifactId, { range: 'bytes=0-1', 'if-range': `"${ref.sha256}"` });
    expect(part.status).toBe(206);
  });

  it('answers 304 to who has it, range or not', async () => {
    for (const tag of [`"${ref.sha256}"`, `W/"${ref.sha256}"`, `"x", "${ref.sha256}"`, '*']) {
      const { status, body, header } = await get(ref.artifactId, { 'if-none-match': tag, range: 'bytes=0-1' });
      expect({ status, length: body.length }).toEqual({ status: 304, length: 0 });
      expect(header('etag')).toBe(`"${ref.sha256}"`);
    }
    expect((await get(ref.artifactId, { 'if-none-match': '"x"' })).status).toBe(200);
  });

  it('answers HEAD with the headers of the whole and no body', async () => {
    const { status, body, header } = await get(ref.artifactId, { range: 'bytes=0-1' }, 'HEAD');
    expect({ status, length: body.length }).toEqual({ status: 200, length: 0 });
    expect(header('content-length')).toBe(String(content.length));
    expect(header('etag')).toBe(`"${ref.sha256}"`);
  });

  it('says the same of a missing one, a malformed id and another tenant’s', async () => {
    const foreign = await putArtifact(world.stack.pool, { tenantId: 'other', contentType: 'text/plain', content });
    const ids = [foreign.artifactId, `art_${'0'.repeat(32)}`, 'nonsense', '%00', `${ref.artifactId}x`];
    const answers = await Promise.all(
      ids.map((id) => world.rest.send('GET', `/v1/artifacts/${id}`, undefined, { 'if-none-match': '*' })),
    );
    const bodies = answers.map(({ status, body }) => ({ status, body: { ...body, instance: '' } }));
    expect(bodies[0]).toMatchObject({ status: 404, body: { code: 'artifact_not_found' } });
    for (const answer of bodies) expect(answer).toEqual(bodies[0]);
  });
});

describe('GET /v1/runs/{id}/artifacts', () => {
  it('goes page by page, and refuses a cursor that is none', async () => {
    const { run_id: runId, thread_id: threadId } = await world.rest.startRun('ANSWER with links');
    await world.rest.settled(runId);
    for (let i = 0; i < 3; i++) {
      const { artifactId } = await putArtifact(world.stack.pool, {
        tenantId: 'default',
        contentType: 'text/plain',
        content: Buffer.from(`page ${String(i)}`),
      });
      await world.stack.pool.query(
        'insert into artifact_link (run_id, link_index, artifact_id, thread_id, name) values ($1, $2, $3, $4, $5)',
        [runId, i, artifactId, threadId, `n${String(i)}`],
      );
    }
    const first = await listOf({ run_id: runId }, '?limit=2');
    expect(first.data.map(({ name }) => name)).toEqual(['n0', 'n1']);
    const second = await listOf({ run_id: runId }, `?limit=2&cursor=${String(first.next_cursor)}`);
    expect(second).toMatchObject({ data: [{ name: 'n2' }], next_cursor: null });
    expect(await world.rest.send('GET', `/v1/runs/${runId}/artifacts?cursor=x`)).toMatchObject({ status: 400 });
    expect(await world.rest.send('GET', '/v1/runs/run_0/artifacts')).toMatchObject({ status: 404 });
  });
});
