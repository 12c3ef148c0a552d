import { askUser } from './ask-user.ts';
import { delegate } from './delegate.ts';
import { editFile } from './edit-file.ts';
import { createFetchUrl } from './fetch-url.ts';
import { listFiles } from './list-files.ts';
import type { Lookup } from './public-address.ts';
import { readFile } from './read-file.ts';
import { saveArtifact } from './save-artifact.ts';
import { searchFiles } from './search-files.ts';
import { shell } from './shell.ts';
import type { BuiltinTool } from './tool.ts';
import { updatePlan } from './update-plan.ts';
import { writeFile } from './write-file.ts';

/** The built-in tools by name, in the order in which a model is told of them. */
export function builtinTools(options: { readonly lookup?: Lookup } = {}): ReadonlyMap<string, BuiltinTool> {
  const files = [listFiles, readFile, searchFiles, writeFile, editFile];
  const tools = [...files, shell, createFetchUrl(options.lookup), saveArtifact, updatePlan, askUser, delegate];
  return new Map(tools.map((tool) => [tool.name, tool]));
}
