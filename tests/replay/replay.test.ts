import { readdir, readFile } from 'node:fs/promises';
import proto from '@temporalio/proto';
import { DeterminismViolationError } from '@temporalio/workflow';
import { Worker } from '@temporalio/worker';
import { beforeAll, describe, expect, inject, it } from 'vitest';

const HISTORIES = new URL('./histories/', import.meta.url);

interface History {
  events: { eventType: string; activityTaskScheduledEventAttributes?: { activityType: { name: string } } }[];
}

const files = (await readdir(HISTORIES, { recursive: true })).filter((name) => name.endsWith('.json')).toSorted();
let workflowBundle: { codePath: string };

beforeAll(() => {
  workflowBundle = { codePath: inject('workflowBundlePath') };
});

async function read(file: string): Promise<History> {
  return JSON.parse(await readFile(new URL(file, HISTORIES), 'utf8')) as History;
}

async function replay(history: History): Promise<void> {
  await Worker.runReplayHistory(
    { workflowBundle },
    proto.temporal.api.history.v1.History.fromObject(history),
    'run_replayed',
  );
}

describe('recorded histories of released workflows', () => {
  it('are there: plain, parked and approved, cancelled', () => {
    for (const name of ['plain', 'approved', 'cancelled'])
      expect(files.some((file) => file.endsWith(`${name}.json`))).toBe(true);
  });

  it.each(files)('%s replays on the workflow code of today', async (file) => {
    await expect(replay(await read(file))).resolves.toBeUndefined();
  });

  it('would not replay if the code had changed: a history with another activity is refused', async () => {
    const history = await read(files.find((file) => file.endsWith('plain.json')) ?? '');
    const scheduled = history.events.find((event) => event.activityTaskScheduledEventAttributes !== undefined);
    if (scheduled?.activityTaskScheduledEventAttributes === undefined) throw new Error('the history has an activity');
    scheduled.activityTaskScheduledEventAttributes.activityType.name = 'somethingElse';
    await expect(replay(history)).rejects.toThrow(DeterminismViolationError);
  });
});
