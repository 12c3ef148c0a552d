import { mkdir, realpath } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { utf8Bytes } from '../../../../contract/frames.ts';
import type { FileChange } from '../file-change.ts';
import { fileDiff, textBefore } from './file-diff.ts';
import { existing, replaceFile } from './replace-file.ts';
import { executableTool, succeeded, ToolFault } from './tool.ts';
import { briefly, fileFault, placeInWorkspace, quoted } from './workspace-path.ts';

export const writeFile = executableTool({
  name: 'write_file',
  label: 'Write file',
  description:
    'Creates a text file in the workspace, or replaces one. Folders on the way are made. A person approves each call.',
  schema: z.strictObject({
    path: z.string().min(1).max(1_024).describe('Relative to the workspace, such as notes/a.txt.'),
    content: z.string().describe('The whole new text of the file.'),
  }),
  approval: 'always',
  repeatable: false,
  parallelSafe: false,
  describe: ({ path, content }) => `Write ${String(utf8Bytes(content))} bytes to ${briefly(path)}`,
  async execute({ path, content }, { workspace, signal, limits }) {
    const bytes = Buffer.from(content, 'utf8');
    if (bytes.length > limits.writeBytes) {
      throw new ToolFault(
        `the content has ${String(bytes.length)} bytes and ${String(limits.writeBytes)} are allowed; write less, or several files`,
      );
    }
    const { root, place, shown } = await placeInWorkspace(workspace, path);
    if (place === root) throw new ToolFault('the path names the workspace itself; name a file in it');
    signal.throwIfAborted();
    try {
      await mkdir(dirname(place), { recursive: true });
      if ((await realpath(dirname(place))) !== dirname(place))
        throw new ToolFault(`the folders of ${quoted(shown)} have changed; try again`);
      const before = await existing(place);
      if (before?.isDirectory() === true) throw new ToolFault(`${quoted(shown)} is a folder; name a file in it`);
      if (before !== null && !before.isFile())
        throw new ToolFault(`${quoted(shown)} is not a regular file; use another path`);
      const textNow = before === null ? null : await textBefore(place, before.size);
      await replaceFile(place, bytes, before);
      const change: FileChange = { path: shown, changeType: before === null ? 'create' : 'edit' };
      const verb = before === null ? 'created' : 'replaced';
      const said = succeeded(`${verb} ${quoted(shown)} (${String(bytes.length)} bytes)`, {
        ...change,
        bytes: bytes.length,
      });
      const diff = fileDiff(shown, textNow, content);
      return diff === null ? said : { ...said, diff };
    } catch (error) {
      throw fileFault(error, shown);
    }
  },
});
