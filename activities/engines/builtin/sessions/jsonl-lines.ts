import { createReadStream } from 'node:fs';
import type { NumberedLine } from '../../../../contract/session-doctor.ts';
import { readSessionLine, SESSION_LINE_LIMIT_BYTES } from '../../../../contract/session-jsonl.ts';

const NEWLINE = 0x0a;

/**
 * The lines of a session file, understood or not; empty ones are left out. A last line that a crash cut is one that is not understood.
 *
 * **Contract:** holds a line in memory, never the file. A line over the limit is not held: it is said to be too long.
 */
export async function* linesOfFile(path: string): AsyncGenerator<NumberedLine> {
  let number = 1;
  let parts: Buffer[] = [];
  let bytes = 0;
  const take = (part: Buffer): void => {
    bytes += part.length;
    if (bytes <= SESSION_LINE_LIMIT_BYTES) parts.push(part);
    else parts = [];
  };
  const line = (): NumberedLine | null => {
    const read = understood(Buffer.concat(parts), bytes);
    parts = [];
    bytes = 0;
    return read === null ? null : { number, read };
  };
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(NEWLINE, start);
      if (end === -1) break;
      take(chunk.subarray(start, end));
      const whole = line();
      if (whole !== null) yield whole;
      number += 1;
      start = end + 1;
    }
    take(chunk.subarray(start));
  }
  const last = line();
  if (last !== null) yield last;
}

function understood(line: Buffer, bytes: number): NumberedLine['read'] | null {
  if (bytes > SESSION_LINE_LIMIT_BYTES)
    return { ok: false, problem: `is over ${String(SESSION_LINE_LIMIT_BYTES)} bytes` };
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(line).trim();
    return text === '' ? null : readSessionLine(text);
  } catch {
    return { ok: false, problem: 'is not UTF-8' };
  }
}
