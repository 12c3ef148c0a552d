import { lstat } from 'node:fs/promises';
import { z } from 'zod';
import { utf8Bytes } from '../../../../contract/frames.ts';
import type { FileChange } from '../file-change.ts';
import { fileDiff } from './file-diff.ts';
import { decodeText, readPart } from './file-part.ts';
import { replaceFile } from './replace-file.ts';
import { executableTool, succeeded, ToolFault } from './tool.ts';
import { briefly, fileFault, placeInWorkspace, quoted } from './workspace-path.ts';

const SHOWN_CHARS = 30;

export const editFile = executableTool({
  name: 'edit_file',
  label: 'Edit file',
  description:
    'Replaces a text in a UTF-8 file of the workspace by another one. The old text must be in the file exactly as given, blanks and line ends too, and only once, unless all is true. A person approves each call.',
  schema: z.strictObject({
    path: z.string().min(1).max(1_024).describe('Relative to the workspace, such as notes/a.txt.'),
    old_text: z.string().min(1).describe('The text to replace, with enough around it to be there only once.'),
    new_text: z.string().describe('What comes in its place.'),
    all: z.boolean().optional().describe('Replace it wherever it is.'),
  }),
  approval: 'always',
  repeatable: false,
  parallelSafe: false,
  describe: ({ path, old_text, new_text, all = false }) =>
    `Edit ${briefly(path)}: ${all ? 'all ' : ''}${brief(old_text)} → ${brief(new_text)}`,
  async execute({ path, old_text: oldText, new_text: newText, all = false }, { workspace, signal, limits }) {
    if (oldText === newText) throw new ToolFault('old_text and new_text are the same; nothing would change');
    const { place, shown } = await placeInWorkspace(workspace, path);
    const before = await readWhole(place, shown, limits.writeBytes);
    const parts = before.split(oldText);
    const count = parts.length - 1;
    if (count === 0) throw new ToolFault(`old_text is not in ${quoted(shown)}; read_file shows what is`);
    if (!all && before.indexOf(oldText) !== before.lastIndexOf(oldText)) {
      throw new ToolFault(
        `old_text is in ${quoted(shown)} more than once; give more of the text around it, or set all`,
      );
    }
    const bytes = utf8Bytes(before) + count * (utf8Bytes(newText) - utf8Bytes(oldText));
    if (bytes > limits.writeBytes) {
      throw new ToolFault(
        `the file would have ${String(bytes)} bytes and ${String(limits.writeBytes)} are allowed; use a shorter new_text`,
      );
    }
    const after = parts.join(newText);
    signal.throwIfAborted();
    try {
      await replaceFile(place, Buffer.from(after), await lstat(place));
    } catch (error) {
      throw fileFault(error, shown);
    }
    const change: FileChange = { path: shown, changeType: 'edit' };
    const places = count === 1 ? '1 place' : `${String(count)} places`;
    const said = succeeded(`edited ${quoted(shown)} in ${places} (${String(bytes)} bytes)`, { ...change, bytes });
    const diff = fileDiff(shown, before, after);
    return diff === null ? said : { ...said, diff };
  },
});

async function readWhole(place: string, shown: string, limitBytes: number): Promise<string> {
  const { bytes, total } = await readPart({ place, shown, offset: 0, size: limitBytes });
  if (total <= limitBytes) return decodeText(bytes, shown);
  throw new ToolFault(`${quoted(shown)} has ${String(total)} bytes; files up to ${String(limitBytes)} can be edited`);
}

function brief(text: string): string {
  const cut = text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS).toWellFormed()}…` : text;
  return JSON.stringify(cut);
}
