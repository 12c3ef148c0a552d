import { hash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ToolResultMessage } from '../contract/agent-messages.ts';
import { artifactsOfRun, removeLeftArtifacts } from '../infra/postgres/artifact-link.ts';
import { findArtifact } from '../infra/postgres/artifact.ts';
import { endStep, openStep } from '../infra/postgres/step.ts';
import { createTestDatabase, type TestDatabase } from '../infra/testing/database.ts';
import { acceptedRun } from '../tests/fixtures/runs.ts';
import { toolResult } from './engines/builtin/frames.ts';
import type { NamedArtifact } from './engines/named-artifact.ts';
import { translateBuiltinFrame } from './engines/builtin/translate.ts';
import { withOutputKept } from './keep-output.ts';

let db: TestDatabase;

beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(async () => {
  await db?.drop();
});

const saying = (text: string): ToolResultMessage => ({
  role: 'tool-result',
  toolCallId: 'tc',
  toolName: 'read_file',
  content: [{ type: 'text', text }],
  isError: false,
  timestamp: 1,
});

/** A tool step that was opened, and how it ends. */
async function openedStep() {
  const { run_id: runId } = await acceptedRun(db.pool);
  const open = async () => {
    const opened = await openStep(db.pool, { runId, stepIndex: 0, kind: 'tool', label: 't' });
    if (opened.state !== 'opened') throw new Error(`step is ${opened.state}`);
    return opened.writer;
  };
  const writer = await open();
  const end = async (message: ToolResultMessage, output: NamedArtifact | null) => {
    await endStep(db.pool, {
      runId,
      writer,
      status: 'completed',
      provider: 'builtin',
      translate: translateBuiltinFrame,
      frames: [{ at: 1, frame: toolResult(message, { durationMs: 1, output }) }],
      artifacts: output === null ? [] : [{ artifactId: output.artifact.artifactId, name: output.name }],
      messages: [message],
      result: '{}',
      contentHash: '',
    });
  };
  return { runId, end, reopen: open, links: () => artifactsOfRun(db.pool, { runId, after: -1, limit: 10 }) };
}

const keep = (message: ToolResultMessage, end: (output: NamedArtifact | null) => Promise<void>) =>
  withOutputKept(db, { tenantId: 'default', message, stepIndex: 0, aside: {} }, ({ output }) => end(output));

describe('a tool’s output', () => {
  it('of 2,000 characters is kept by its preview alone', async () => {
    await keep(saying('x'.repeat(2_000)), async (output) => {
      expect(output).toBeNull();
      await Promise.resolve();
    });
  });

  it('that is erased between its storing and the step’s end is stored again', async () => {
    const { end, links } = await openedStep();
    const text = 'erased '.repeat(1_000);
    const message = saying(text);
    let ends = 0;
    await keep(message, async (output) => {
      ends += 1;
      if (ends === 1) await db.pool.query('delete from artifact where artifact_id = $1', [output?.artifact.artifactId]);
      await end(message, output);
    });
    expect(ends).toBe(2);
    expect(await links()).toMatchObject([{ sha256: hash('sha256', text), name: 'read_file-0.txt' }]);
  });

  it('of an attempt that was fenced stays without a link, and is removed when it is old', async () => {
    const { end, reopen, links } = await openedStep();
    const message = saying('fenced '.repeat(1_000));
    await reopen();
    let kept = '';
    const ending = keep(message, async (output) => {
      kept = output?.artifact.artifactId ?? '';
      await end(message, output);
    });
    await expect(ending).rejects.toMatchObject({ code: 'lane_fenced' });
    expect(await links()).toEqual([]);
    expect(await removeLeftArtifacts(db.pool, { olderThanMs: 60_000, limit: 10 })).toBe(0);
    expect(await findArtifact(db.pool, 'default', kept)).not.toBeNull();
    expect(await removeLeftArtifacts(db.pool, { olderThanMs: 0, limit: 10 })).toBe(1);
    expect(await findArtifact(db.pool, 'default', kept)).toBeNull();
  });

  it('of another tenant cannot be referred to', async () => {
    const { end } = await openedStep();
    const message = saying('foreign '.repeat(1_000));
    const foreign = withOutputKept(
      db,
      { tenantId: 'other', message, stepIndex: 0, aside: {} },
      async ({ output }) => await end(message, output),
    );
    await expect(foreign).rejects.toMatchObject({ code: 'artifact_not_found' });
  });

  it('is the bytes that the tool gives for it, where its text is a part of them', async () => {
    const whole = Buffer.from([0x61, 0xff, 0x62]);
    const aside = { output: whole };
    await withOutputKept(
      db,
      { tenantId: 'default', message: saying('a…b'), stepIndex: 3, aside },
      async ({ output }) => {
        expect(output).toMatchObject({
          name: 'read_file-3.txt',
          artifact: { bytes: 3, sha256: hash('sha256', whole) },
        });
        await Promise.resolve();
      },
    );
  });

  it('does not hold what the tool was asked to keep, which has a name and a type of its own', async () => {
    const saved = { name: 'plot.png', contentType: 'image/png', content: Buffer.from('not really') };
    await withOutputKept(
      db,
      { tenantId: 'default', message: saying('kept'), stepIndex: 0, aside: { saved } },
      async (kept) => {
        expect(kept.output).toBeNull();
        expect(kept.saved).toMatchObject({ name: 'plot.png', artifact: { contentType: 'image/png', bytes: 10 } });
        const stored = await findArtifact(db.pool, 'default', kept.saved?.artifact.artifactId ?? '');
        expect(stored?.artifact).toEqual(kept.saved?.artifact);
      },
    );
  });
});
