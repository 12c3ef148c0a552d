import { describe, expect, it } from 'vitest';
import { boundedBody } from './bounded-body.ts';
import { MESSAGE_LIMIT } from './message-limit.ts';

const encoder = new TextEncoder();
const MEGABYTE = 1024 * 1024;

function streaming(type: string, chunks: Iterable<string | Error>): Response {
  const source = chunks[Symbol.iterator]();
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const { done, value } = source.next();
      if (done === true) controller.close();
      else if (value instanceof Error) controller.error(value);
      else controller.enqueue(encoder.encode(value));
    },
  });
  return new Response(body, { headers: { 'content-type': type } });
}

function* repeated(text: string, times: number): Iterable<string> {
  for (let at = 0; at < times; at++) yield text;
}

async function read(response: Response): Promise<{ chars: number; broken: number; failed: boolean }> {
  let broken = 0;
  const bounded = boundedBody(response, () => broken++);
  try {
    return { chars: (await bounded.text()).length, broken, failed: false };
  } catch {
    return { chars: 0, broken, failed: true };
  }
}

describe('a response', () => {
  it('within the limit is what it was', async () => {
    expect(await read(streaming('application/json', ['{"a":', '1}']))).toEqual({ chars: 7, broken: 0, failed: false });
  });

  it('over the limit ends in an error', async () => {
    const chunks = repeated('x'.repeat(MEGABYTE), MESSAGE_LIMIT / MEGABYTE + 1);
    expect(await read(streaming('application/json', chunks))).toEqual({ chars: 0, broken: 1, failed: true });
  });

  it('of many events may be of any length, as long as each is within the limit', async () => {
    const event = `data: ${'x'.repeat(MEGABYTE)}\r\n\r\n`;
    const times = MESSAGE_LIMIT / MEGABYTE + 2;
    expect(await read(streaming('text/event-stream', repeated(event, times)))).toMatchObject({ failed: false });
  });

  it.each([`data: ${'x'.repeat(MEGABYTE)}`, `data: ${'x'.repeat(MEGABYTE)}\n`])(
    'of one event without an end is an error (%#)',
    async (piece) => {
      const chunks = repeated(piece, MESSAGE_LIMIT / MEGABYTE + 1);
      expect(await read(streaming('text/event-stream', chunks))).toEqual({ chars: 0, broken: 1, failed: true });
    },
  );

  it('that breaks off is told', async () => {
    expect(await read(streaming('text/event-stream', ['data: a\n\n', new Error('reset')]))).toMatchObject({
      broken: 1,
    });
  });

  it('that its reader gives up is not', async () => {
    const left = Object.assign(new Error('left'), { name: 'AbortError' });
    expect(await read(streaming('text/event-stream', ['data: a\n\n', left]))).toMatchObject({
      broken: 0,
      failed: true,
    });
  });
});
