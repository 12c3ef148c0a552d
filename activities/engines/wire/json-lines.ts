import { StringDecoder } from 'node:string_decoder';
import { TidemarkError } from '../../../contract/errors.ts';

/** One message of an agent, at most. What is longer is no conversation, and would have to be held whole. */
const LINE_LIMIT_CHARS = 64 * 1024 * 1024;

/**
 * The lines of an agent's output, as they come whole; empty ones are left out.
 *
 * **Contract:** only LF ends a line (U+2028 may stand in one); a last line without an end is given too. No more is read than is
 * taken, so an agent that talks faster than it is heard waits.
 *
 * @throws TidemarkError `engine_protocol_error` for a line that is over the limit.
 */
export async function* linesOf(
  chunks: AsyncIterable<Buffer | string>,
  limitChars = LINE_LIMIT_CHARS,
): AsyncGenerator<string> {
  const decoder = new StringDecoder('utf8');
  let parts: string[] = [];
  let chars = 0;
  for await (const chunk of chunks) {
    const text = typeof chunk === 'string' ? chunk : decoder.write(chunk);
    const pieces = text.split('\n');
    const rest = pieces.pop() ?? '';
    for (const piece of pieces) {
      const line = [...parts, piece].join('').trim();
      parts = [];
      chars = 0;
      if (line !== '') yield line;
    }
    parts.push(rest);
    chars += rest.length;
    if (chars > limitChars) throw tooLong(limitChars);
  }
  const last = [...parts, decoder.end()].join('').trim();
  if (last !== '') yield last;
}

function tooLong(limitChars: number): TidemarkError {
  return new TidemarkError(
    'engine_protocol_error',
    `the engine sent a message of over ${String(limitChars)} characters`,
    'Look in its own log for what it printed; report it to its makers if it was a message.',
  );
}
