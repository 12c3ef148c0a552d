import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { ToolFault } from './tool.ts';
import { fileFault, quoted } from './workspace-path.ts';

export interface FilePart {
  readonly place: string;
  readonly shown: string;
  readonly offset: number;
  readonly size: number;
}

/**
 * Reads a part of a regular file: `bytes` from `offset` on, at most `size` of them; `total` is the file's size.
 *
 * @throws ToolFault for what is no regular file, or may not be read.
 */
export async function readPart(part: FilePart): Promise<{ bytes: Buffer; total: number }> {
  const { place, shown, offset, size } = part;
  let file: FileHandle | undefined;
  try {
    // Without O_NONBLOCK opening a pipe would wait for its writer.
    file = await open(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stat = await file.stat();
    if (stat.isDirectory()) throw new ToolFault(`${quoted(shown)} is a folder; list_files shows what is in it`);
    if (!stat.isFile()) throw new ToolFault(`${quoted(shown)} is not a regular file; use another path`);
    const buffer = Buffer.alloc(Math.max(Math.min(size, stat.size - offset), 0));
    const { bytesRead } = await file.read(buffer, 0, buffer.length, offset);
    return { bytes: buffer.subarray(0, bytesRead), total: stat.size };
  } catch (error) {
    throw fileFault(error, shown);
  } finally {
    await file?.close();
  }
}

/** @throws ToolFault for what is not UTF-8 text. */
export function decodeText(bytes: Uint8Array, shown: string): string {
  try {
    if (bytes.includes(0)) throw new TypeError('a NUL byte');
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new ToolFault(`${quoted(shown)} is not UTF-8 text; this tool takes text only`);
  }
}
