import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { z } from 'zod';
import { executableTool, succeeded, ToolFault } from './tool.ts';
import { briefly, fileFault, placeInWorkspace, quoted } from './workspace-path.ts';

/** Holds a whole character, wherever it is cut. */
const SMALLEST_PART = 16;

export const readFile = executableTool({
  name: 'read_file',
  label: 'Read file',
  description:
    'Reads a UTF-8 text file of the workspace. A long file comes in parts: the end of each says the offset of the next.',
  schema: z.strictObject({
    path: z.string().min(1).max(1_024).describe('Relative to the workspace, such as notes/a.txt.'),
    offset: z.int().nonnegative().optional().describe('Bytes to skip; 0 when left out.'),
    limit: z.int().positive().optional().describe('Bytes to read at most; as many as allowed when left out.'),
  }),
  approval: 'never',
  repeatable: true,
  parallelSafe: true,
  describe: ({ path }) => `Read ${briefly(path)}`,
  async execute({ path, offset = 0, limit }, { workspace, limits }) {
    const { place, shown } = await placeInWorkspace(workspace, path);
    const size = Math.min(Math.max(limit ?? limits.readBytes, SMALLEST_PART), limits.readBytes);
    const { bytes, total } = await readPart(place, shown, offset, size);
    if (total === 0) return succeeded('(the file is empty)');
    if (offset >= total) throw new ToolFault(`${quoted(shown)} has ${String(total)} bytes; use a smaller offset`);
    const part = wholeCharacters(bytes, offset > 0, offset + bytes.length < total);
    const end = offset + part.end;
    const rest =
      end < total
        ? `\n[bytes ${String(offset)} to ${String(end)} of ${String(total)}; go on with offset ${String(end)}]`
        : '';
    return succeeded(decode(bytes.subarray(part.start, part.end), shown) + rest);
  },
});

async function readPart(
  place: string,
  shown: string,
  offset: number,
  size: number,
): Promise<{ bytes: Buffer; total: number }> {
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

/** Where the whole UTF-8 characters of a part begin and end. */
function wholeCharacters(bytes: Buffer, isCutBefore: boolean, isCutAfter: boolean): { start: number; end: number } {
  let start = 0;
  if (isCutBefore) while (start < 3 && isContinuation(bytes[start])) start++;
  const end = bytes.length;
  if (!isCutAfter) return { start, end };
  let lead = end - 1;
  while (lead > start && end - lead < 4 && isContinuation(bytes[lead])) lead--;
  return { start, end: lengthOf(bytes[lead]) > end - lead ? lead : end };
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

function lengthOf(lead: number | undefined): number {
  if (lead === undefined || lead < 0xc0) return 1;
  return lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

function decode(bytes: Uint8Array, shown: string): string {
  try {
    if (bytes.includes(0)) throw new TypeError('a NUL byte');
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new ToolFault(`${quoted(shown)} is not UTF-8 text; it cannot be read with this tool`);
  }
}
