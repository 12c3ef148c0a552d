import { dirname, isAbsolute, join, resolve } from 'node:path';
import { z } from 'zod';

/** An extension of `tidemark.config.ts`: a module beside it, or a package; alone, or with options. */
const Entry = z.union(
  [
    z.string().min(1),
    z.strictObject({ module: z.string().min(1), options: z.record(z.string(), z.unknown()).default({}) }),
  ],
  'must be a module such as "./my-extension.ts", a package, or { module, options }',
);

export const ExtensionEntries = z.array(Entry).max(200);
export type ExtensionEntry = z.input<typeof Entry>;

export interface ExtensionSettings {
  /** An absolute path, or the name of a package. */
  readonly module: string;
  /** As it stands in the file: what its records are listed under. */
  readonly name: string;
  readonly options: Readonly<Record<string, unknown>>;
  /** The file that names it: packages are looked for from there. */
  readonly from: string;
}

/** The extensions that a file names; a path is found from the file. */
export function extensionsOf(entries: z.output<typeof ExtensionEntries>, file: string): ExtensionSettings[] {
  return entries.map((entry) => {
    const { module, options } = typeof entry === 'string' ? { module: entry, options: {} } : entry;
    const isPath = module.startsWith('.') || isAbsolute(module);
    const from = join(dirname(file), 'package.json');
    return { module: isPath ? resolve(dirname(file), module) : module, name: module, options, from };
  });
}
