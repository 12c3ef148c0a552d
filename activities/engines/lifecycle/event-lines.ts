import { TidemarkError } from '../../../contract/errors.ts';

/** The longest line of a stream: an event at its limits, with every character escaped, has room. */
export const LINE_LIMIT_CHARS = 2 * 1024 * 1024;

export type StreamFormat = 'ndjson' | 'sse';

/**
 * The JSON values of a stream of bytes: one a line, or one an SSE event.
 *
 * **Contract:** bytes may be cut anywhere. What is not UTF-8, not JSON, or a line without end ends the stream; the error quotes nothing.
 *
 * @throws TidemarkError `engine_protocol_error`
 */
export async function* jsonValues(bytes: AsyncIterable<Uint8Array>, format: StreamFormat): AsyncGenerator<unknown> {
  if (format === 'ndjson') {
    for await (const line of linesOf(bytes)) if (line.trim() !== '') yield parsed(line);
    return;
  }
  let data: string[] = [];
  let chars = 0;
  for await (const line of linesOf(bytes)) {
    if (line === '') {
      if (data.length > 0) yield parsed(data.join('\n'));
      data = [];
      chars = 0;
    } else if (line === 'data' || line.startsWith('data:')) {
      const value = line.slice(5).replace(/^ /, '');
      chars += value.length;
      if (chars > LINE_LIMIT_CHARS) throw broken('holds an event over the limit');
      data.push(value);
    }
  }
}

async function* linesOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let rest = '';
  for await (const chunk of bytes) {
    // only what is new is searched, so a long line in small chunks costs no more than a short one
    const lines = decoded(decoder, chunk).split('\n');
    lines[0] = rest + (lines[0] ?? '');
    rest = lines.pop() ?? '';
    for (const line of lines) yield bounded(line.endsWith('\r') ? line.slice(0, -1) : line);
    bounded(rest);
  }
  rest += decoded(decoder);
  if (rest !== '') yield bounded(rest);
}

function decoded(decoder: TextDecoder, chunk?: Uint8Array): string {
  try {
    return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true });
  } catch {
    throw broken('is not UTF-8');
  }
}

function bounded(line: string): string {
  if (line.length > LINE_LIMIT_CHARS) throw broken('holds a line over the limit');
  return line;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw broken('holds what is not JSON');
  }
}

function broken(what: string): TidemarkError {
  return new TidemarkError(
    'engine_protocol_error',
    `the adapter's stream ${what}`,
    'Send one JSON event a line, or SSE.',
  );
}
