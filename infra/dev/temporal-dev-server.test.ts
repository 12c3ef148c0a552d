import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, inject, test } from 'vitest';
import { freePort } from './ports.ts';
import { findTemporal } from './temporal-binary.ts';
import { startTemporal, type TemporalOptions } from './temporal-dev-server.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(inject('scratch'), 'temporal-'));
});

/** The real CLI behind a script that ends at once the first `times` times, and counts. */
async function endsEarly(times: number): Promise<TemporalOptions> {
  const binary = join(folder, 'temporal');
  const real = await findTemporal(() => undefined);
  const lines = [
    '#!/bin/sh',
    `echo x >> '${folder}/starts'`,
    `[ $(wc -l < '${folder}/starts') -le ${String(times)} ] && exit 2`,
  ];
  await writeFile(binary, [...lines, `exec '${real}' "$@"`, ''].join('\n'), { mode: 0o755 });
  const logFile = join(folder, 'temporal.log');
  return { binary, port: await freePort(), uiPort: null, databaseFile: null, namespaces: [], logFile };
}
const starts = async (): Promise<number> => (await readFile(join(folder, 'starts'), 'utf8')).trim().split('\n').length;

describe('a dev server that ends before it answers', () => {
  test('is started again', async () => {
    const server = await startTemporal(await endsEarly(2));
    await server.process.stop(10_000);
    expect(await starts()).toBe(3);
  });

  test('three times is a failure that says how it ended', async () => {
    await expect(startTemporal(await endsEarly(99))).rejects.toThrow('did not start (exit code 2)');
    expect(await starts()).toBe(3);
  });
});
