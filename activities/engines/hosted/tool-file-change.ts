import { z } from 'zod';
import type { CanonicalBody } from '../../../contract/canonical.ts';

type ChangeType = CanonicalBody<'file.changed'>['changeType'];

const PATH_CHARS = 1_000;
/** Tools that change one file, by what agents call them, without `_` and `-`. */
const CHANGING_TOOLS: Readonly<Record<string, ChangeType>> = {
  write: 'create',
  writefile: 'create',
  createfile: 'create',
  edit: 'edit',
  editfile: 'edit',
  delete: 'delete',
  deletefile: 'delete',
};
/** Commands of the editor that Anthropic's models know, and operations of the patch tool that OpenAI's do. */
const CHANGING_WORDS: Readonly<Record<string, ChangeType>> = {
  create: 'create',
  str_replace: 'edit',
  insert: 'edit',
  create_file: 'create',
  update_file: 'edit',
  delete_file: 'delete',
};
const EDITOR_TOOL = /^(?:str_replace_(?:based_edit_tool|editor)|apply_patch)$/;

const path = z.string().min(1).max(PATH_CHARS).optional().catch(undefined);
const paths = { path, file_path: path, filePath: path };
const word = z.string().optional().catch(undefined);
const Change = z.object({
  ...paths,
  command: word,
  operation: z
    .object({ ...paths, type: word })
    .optional()
    .catch(undefined),
});

/** The file that a tool changed by its input, where it went well; null for a tool that is not known to change one. */
export function fileChangeOfTool(toolName: string, input: unknown): CanonicalBody<'file.changed'> | null {
  const change = Change.safeParse(input).data;
  if (change === undefined) return null;
  const { operation, command } = change;
  const changeType = EDITOR_TOOL.test(toolName)
    ? wordOf(CHANGING_WORDS, operation?.type ?? command ?? '')
    : wordOf(CHANGING_TOOLS, toolName.replaceAll(/[_-]/g, '').toLowerCase());
  const { path: named, file_path: snake, filePath: camel } = operation ?? change;
  const changed = named ?? snake ?? camel;
  return changeType === undefined || changed === undefined ? null : { kind: 'file.changed', path: changed, changeType };
}

function wordOf(table: Readonly<Record<string, ChangeType>>, name: string): ChangeType | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
