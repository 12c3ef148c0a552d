import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';

/** What the program reads and writes: standard input, output and error. */
export interface Streams {
  readonly input: Readable & { readonly isTTY?: boolean };
  readonly output: Writable & { readonly isTTY?: boolean };
  readonly errors: Writable & { readonly isTTY?: boolean };
}

/** Everything that there is to read, as text. */
export async function readAll(input: Readable): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of input) parts.push(Buffer.from(part as Uint8Array));
  return Buffer.concat(parts).toString('utf8');
}

/** Writes, and waits while the reader has too much to read. */
export async function writeWhole(output: Writable, text: string): Promise<void> {
  if (!output.write(text)) await once(output, 'drain');
}
