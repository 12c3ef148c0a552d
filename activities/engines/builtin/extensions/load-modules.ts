import { stat } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { isAbsolute } from 'node:path';
import { packageEntry } from './package-entry.ts';
import type { Extension } from '../../../../contract/extensions/extension.ts';
import type { NamedExtension } from '../../../../contract/extensions/extension-scope.ts';
import type { ExtensionSettings } from '../../../../infra/extension-settings.ts';

/** An extension that could not be imported, and why. */
export interface Unloadable {
  readonly name: string;
  readonly error: unknown;
}

/**
 * Imports the modules of the configured extensions.
 *
 * **Contract:** one that cannot be imported stops no other. A file that has changed since is imported anew (`/reload`); what it
 * imports itself, and a package, is what this process has loaded first.
 */
export async function importExtensions(
  settings: readonly ExtensionSettings[],
): Promise<{ readonly extensions: readonly NamedExtension[]; readonly unloadable: readonly Unloadable[] }> {
  const extensions: NamedExtension[] = [];
  const unloadable: Unloadable[] = [];
  for (const { module, name, options, from } of settings) {
    try {
      extensions.push({ name, firstParty: false, options, extension: await importDefault(module, from) });
    } catch (error) {
      unloadable.push({ name, error });
    }
  }
  return { extensions, unloadable };
}

async function importDefault(module: string, from: string): Promise<Extension> {
  const address = isAbsolute(module)
    ? `${pathToFileURL(module).href}?changed=${String((await stat(module)).mtimeMs)}`
    : await packageEntry(module, from);
  const { default: extension } = (await import(address)) as { readonly default?: unknown };
  if (typeof extension !== 'function') {
    throw new Error('its default export is no function; write: export default defineExtension((api) => { … })');
  }
  return extension as Extension;
}
