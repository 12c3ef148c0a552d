import { expect, test } from 'vitest';
import { linesOf } from './json-lines.ts';

async function* chunks(...parts: readonly (string | Buffer)[]): AsyncGenerator<string | Buffer> {
  yield* parts;
}

async function collected(lines: AsyncIterable<string>): Promise<string[]> {
  const all: string[] = [];
  for await (const line of lines) all.push(line);
  return all;
}

test('a line is put together from its chunks, and a character from its bytes', async () => {
  const bytes = Buffer.from('{"a":"é"}\n');
  const cut = bytes.indexOf(0xc3) + 1;
  const lines = await collected(
    linesOf(chunks(bytes.subarray(0, cut), bytes.subarray(cut), '{"b"', ':1}\r\n\n{"c":2}')),
  );
  expect(lines).toEqual(['{"a":"é"}', '{"b":1}', '{"c":2}']);
});

test('what only looks like the end of a line in other places is none', async () => {
  expect(await collected(linesOf(chunks('"a\u2028b\u2029c"\n')))).toEqual(['"a\u2028b\u2029c"']);
});

test('a line without an end is not collected for ever', async () => {
  const reading = collected(linesOf(chunks('x'.repeat(60), 'x'.repeat(60)), 100));
  await expect(reading).rejects.toMatchObject({ code: 'engine_protocol_error' });
});
