import { lstat } from 'node:fs/promises';
import { z } from 'zod';
import { searchInThread, type SearchResult } from './search-thread.ts';
import { executableTool, succeeded, type ToolLimits } from './tool.ts';
import { briefly, fileFault, placeInWorkspace, quoted } from './workspace-path.ts';

export const searchFiles = executableTool({
  name: 'search_files',
  label: 'Search files',
  description:
    'Looks for a text, or a JavaScript regular expression, in the text files of the workspace, line by line. Gives path:line: and the line of each match. Leaves out .git and node_modules, unless path names them.',
  schema: z.strictObject({
    pattern: z.string().min(1).max(1_000).describe('What a line must hold.'),
    regex: z.boolean().optional().describe('The pattern is a regular expression, not a plain text.'),
    ignore_case: z.boolean().optional().describe('Upper and lower case are alike.'),
    path: z
      .string()
      .max(1_024)
      .optional()
      .describe('A folder or a file relative to the workspace; all of it when left out.'),
    glob: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .describe('Which files: *.ts by their names, or src/**/*.ts by their paths in the workspace.'),
  }),
  approval: 'never',
  repeatable: true,
  parallelSafe: true,
  describe: ({ pattern, path = '.' }) => `Search ${briefly(path)} for ${pattern}`,
  async execute({ pattern, regex = false, ignore_case: ignoresCase = false, path = '.', glob }, context) {
    const { workspace, signal, limits } = context;
    const { place, shown } = await placeInWorkspace(workspace, path);
    await lstat(place).catch((error: unknown) => {
      throw fileFault(error, shown);
    });
    const search = {
      place,
      shown: shown === '.' ? '' : shown,
      pattern,
      isRegex: regex,
      ignoresCase,
      glob: glob ?? null,
      limits: {
        files: limits.searchFiles,
        fileBytes: limits.searchFileBytes,
        bytes: limits.searchBytes,
        matches: limits.searchMatches,
      },
    };
    const result = await searchInThread(search, { timeoutMs: limits.searchTimeoutMs, signal });
    return succeeded([...linesOf(result), ...notesOf(result, limits)].join('\n'));
  },
});

function linesOf({ matches }: SearchResult): string[] {
  if (matches.length === 0) return ['(no line matches)'];
  return matches.map(({ path, line, text }) => `${quoted(path)}:${String(line)}: ${text}`);
}

function notesOf({ end }: SearchResult, { searchTimeoutMs, searchFileBytes }: ToolLimits): string[] {
  if (end === 'late') {
    const seconds = String(searchTimeoutMs / 1_000);
    return [`[stopped after ${seconds} seconds: there may be more; use a simpler pattern, or search a folder]`];
  }
  const { isCut, skipped } = end;
  const most = String(searchFileBytes);
  return [
    ...(isCut ? ['[there may be more; use a longer pattern, a glob, or search a folder]'] : []),
    ...(skipped === 0 ? [] : [`[not searched: ${String(skipped)} files that are no text or over ${most} bytes]`]),
  ];
}
