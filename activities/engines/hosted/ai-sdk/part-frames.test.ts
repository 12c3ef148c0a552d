import { expect, test } from 'vitest';
import { FRAME_LIMIT_BYTES, utf8Bytes } from '../../../../contract/frames.ts';
import { framesOfPart } from './part-frames.ts';

const SECRET = 'what only the vendor is to see';

test.each([
  { type: 'start-step', request: { body: SECRET }, warnings: [] },
  {
    type: 'finish-step',
    response: { id: 'r', headers: { a: SECRET }, body: SECRET },
    usage: { inputTokens: 1, raw: SECRET },
  },
  { type: 'finish', totalUsage: { inputTokens: 1, raw: { a: SECRET } } },
  { type: 'raw', rawValue: SECRET },
  { type: 'error', error: Object.assign(new Error('overloaded'), { requestBodyValues: SECRET }) },
  { type: 'file', file: { mediaType: 'image/png', base64: Buffer.from(SECRET).toString('base64') } },
])('a part $type is stored without what is behind it', (part) => {
  const said = JSON.stringify(framesOfPart(part));
  expect(said).not.toContain(SECRET);
  expect(said).not.toContain(Buffer.from(SECRET).toString('base64'));
});

test('a file is its kind and its size', () => {
  const file = { mediaType: 'image/png', base64: Buffer.from('12345').toString('base64') };
  expect(framesOfPart({ type: 'file', file })).toMatchObject([
    { part: { file: { mediaType: 'image/png', bytes: 5 } } },
  ]);
});

test('a long piece is several, and none of them is over the limit of a frame', () => {
  const text = '😀'.repeat(20_000);
  const frames = framesOfPart({ type: 'text-delta', id: '1', text });
  expect(frames.map((frame) => (frame['part'] as { text: string }).text).join('')).toBe(text);
  const large = framesOfPart({
    type: 'tool-result',
    toolCallId: 'c',
    output: Array.from({ length: 9_000 }, () => text.slice(0, 99)),
  });
  for (const frame of [...frames, ...large])
    expect(utf8Bytes(JSON.stringify(frame))).toBeLessThanOrEqual(FRAME_LIMIT_BYTES);
});
