import { readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { shownCallOf, type PiApi } from './pi-api.ts';
import { CHANGE_STATUS, type ChangedFile } from './protocol.ts';

const FILE_TOOLS: ReadonlySet<string> = new Set(['write', 'edit']);
/** A file that is larger is no text that a person reads the changes of. */
const TEXT_LIMIT_BYTES = 512 * 1024;

interface Look {
  readonly path: string;
  /** Null: there is no such file; undefined: nobody knows. */
  text: string | null | undefined;
}

/**
 * Says what each call of pi's own file tools did to its file: pi tells the change of an edit only, and never whether a file was new.
 *
 * **Contract:** said before the end of the call. Of calls side by side that change one file, each says its own change. A call that
 * failed, or whose file is no text, says nothing.
 */
export function sayFileChanges(pi: PiApi): void {
  const looks = new Map<string, Look>();
  pi.on('tool_call', ({ toolName, toolCallId, input }, { cwd }) => {
    const { path: named } = input;
    if (!FILE_TOOLS.has(toolName) || typeof named !== 'string') return undefined;
    const path = pathOf(named, cwd);
    looks.set(toolCallId, { path, text: textIn(path) });
    return undefined;
  });
  pi.on('tool_result', (event, ctx) => {
    const look = looks.get(event.toolCallId);
    looks.delete(event.toolCallId);
    if (look === undefined || event.isError) return;
    const { path, text: before } = look;
    const after = textIn(path);
    for (const other of looks.values()) if (other.path === path) other.text = after;
    if (before === undefined || typeof after !== 'string') return;
    const change: ChangedFile = { toolCallId: shownCallOf(event), path, before, after };
    ctx.ui.setStatus(CHANGE_STATUS, JSON.stringify(change));
  });
}

/** As pi understands a path: models write `@` and `~` before one. */
function pathOf(named: string, cwd: string): string {
  const path = named.startsWith('@') ? named.slice(1) : named;
  return path === '~' || path.startsWith('~/') ? resolve(homedir(), path.slice(2)) : resolve(cwd, path);
}

function textIn(path: string): string | null | undefined {
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return null;
    if (!stat.isFile() || stat.size > TEXT_LIMIT_BYTES) return undefined;
    const text = readFileSync(path, 'utf8');
    return text.includes('\u0000') ? undefined : text;
  } catch {
    return undefined;
  }
}
