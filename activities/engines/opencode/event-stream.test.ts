import { expect, test } from 'vitest';
import { TidemarkError } from '../../../contract/errors.ts';
import { EventStream, type EventStreamParts } from './event-stream.ts';

const GONE = new TidemarkError('engine_lost', 'it ended', 'Nothing is to be done.');

/** A stream of the given connections, one after another, and what became of it. */
function streamOf(connections: (() => AsyncIterable<string>)[], parts: Partial<EventStreamParts> = {}) {
  const heard: string[] = [];
  const stream = new EventStream({
    name: 'scripted',
    connect: () => connections.shift()?.() ?? refused(),
    take: (event) => {
      heard.push(event);
      return Promise.resolve();
    },
    missed: () => {
      heard.push('(missed)');
      return Promise.resolve();
    },
    gone: new Promise(() => undefined),
    pausesMs: [1, 1],
    ...parts,
  });
  return { stream, heard };
}

async function* saying(...events: string[]): AsyncGenerator<string> {
  yield* events;
}

async function* refused(): AsyncGenerator<string> {
  yield* [];
  throw new Error('connection refused');
}

test('a stream that breaks off is taken up again, and says so before what comes then', async () => {
  const { stream, heard } = streamOf([() => saying('1', '2'), refused, () => saying('3')]);
  await stream.connected;
  expect(await stream.ended).toMatchObject({ code: 'engine_lost' });
  expect(heard).toEqual(['1', '2', '(missed)', '3']);
});

test('that nobody lets in any more is lost, after every pause was waited for', async () => {
  let tries = 0;
  const connect = () => {
    tries += 1;
    return refused();
  };
  const { stream } = streamOf([], { connect });
  expect(await stream.ended).toMatchObject({
    message: 'the events of scripted broke off, and its server lets nobody in any more',
  });
  expect(tries).toBe(3);
});

test('ends with the end of the server, when what it said before is taken', async () => {
  const { stream, heard } = streamOf([() => saying('1', '2')], { gone: Promise.resolve(GONE), pausesMs: [60_000] });
  expect(await stream.ended).toBe(GONE);
  expect(heard).toEqual(['1', '2']);
});

test('ends with the fault of who takes its events', async () => {
  const fault = new Error('not stored');
  const { stream } = streamOf([() => saying('1')], { take: () => Promise.reject(fault) });
  expect(await stream.ended).toBe(fault);
});

test('that is closed does not begin again', async () => {
  const { stream, heard } = streamOf([() => saying('1'), () => saying('2')], { pausesMs: [60_000] });
  await stream.connected;
  stream.close();
  await stream.ended;
  expect(heard).toEqual(['1']);
});
