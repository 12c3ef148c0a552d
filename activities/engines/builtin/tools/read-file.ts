import { z } from 'zod';
import { decodeText, readPart } from './file-part.ts';
import { executableTool, succeeded, ToolFault } from './tool.ts';
import { wholeCharacters } from './utf8-part.ts';
import { briefly, placeInWorkspace, quoted } from './workspace-path.ts';

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
    const { bytes, total } = await readPart({ place, shown, offset, size });
    if (total === 0) return succeeded('(the file is empty)');
    if (offset >= total) throw new ToolFault(`${quoted(shown)} has ${String(total)} bytes; use a smaller offset`);
    const part = wholeCharacters(bytes, offset > 0, offset + bytes.length < total);
    const end = offset + part.end;
    const rest =
      end < total
        ? `\n[bytes ${String(offset)} to ${String(end)} of ${String(total)}; go on with offset ${String(end)}]`
        : '';
    return succeeded(decodeText(bytes.subarray(part.start, part.end), shown) + rest);
  },
});
