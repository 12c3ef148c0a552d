// A setup file of every test file: a test that fails shows what its processes wrote last, and a file that leaves processes
// running fails.
import { afterAll, afterEach } from 'vitest';
import { lastLogs, stopForgotten } from './stack.ts';

const LINES = 40;

afterEach(({ task }) => {
  const logs = lastLogs(LINES);
  if (task.result?.state !== 'fail' || logs === '') return;
  process.stderr.write(`\nWhat the processes of "${task.name}" wrote last:\n${logs}\n`);
});

afterAll(async () => {
  const forgotten = await stopForgotten();
  if (forgotten > 0)
    throw new Error(`${String(forgotten)} stack(s) were not stopped: call stop() in afterAll or afterEach`);
});
