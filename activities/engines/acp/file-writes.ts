import { z } from 'zod';
import type { Kept } from './acp-schema.ts';
import { TABLE_LIMITS, type FileFact } from './acp-state.ts';
import { entryOf, withEntry } from '../bounded-table.ts';
import { fileChanged, pathIn } from './file-changes.ts';
import type { Scribe } from './scribe.ts';

const Write = z.looseObject({ path: z.string().min(1) });

/** What the answer to `fs/write_text_file` needs of the request. */
export function writeAsked(scribe: Scribe, params: unknown): Readonly<Record<string, string>> | null {
  const path = Write.safeParse(params).data?.path;
  return path === undefined ? null : { path: pathIn(scribe.state.cwd, path) };
}

/**
 * A file was written through us. A running tool that is known to change it says so itself when it ends; else it is said now,
 * and no tool that ends later says it again.
 */
export function sayWritten(scribe: Scribe, path: string, kept: Kept): string {
  const { tools, looseWrites } = scribe.state;
  const diff = kept.diffs?.[0];
  const file: FileFact = {
    path: diff?.path ?? path,
    changeType: diff?.changeType ?? 'edit',
    ...(diff?.diff === undefined ? {} : { diff: diff.diff.artifact }),
  };
  const [owner] =
    tools.find(([, tool]) => tool.phase === 'open' && tool.files.some((known) => known.path === file.path)) ?? [];
  const facts = owner === undefined ? undefined : entryOf(tools, owner);
  if (owner !== undefined && facts !== undefined) {
    const files =
      diff === undefined ? facts.files : facts.files.map((known) => (known.path === file.path ? file : known));
    const written = [...facts.written, file.path];
    scribe.remember({ tools: withEntry(tools, owner, { ...facts, files, written }, TABLE_LIMITS.tools) });
    return 'the tool that writes the file says so when it ends';
  }
  if (looseWrites.includes(file.path)) return 'a file that was said to be changed';
  scribe.say(scribe.self, fileChanged(file));
  scribe.remember({ looseWrites: [...looseWrites, file.path].slice(-TABLE_LIMITS.looseWrites) });
  return '';
}
