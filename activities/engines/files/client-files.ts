import { constants } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { ToolFault } from '../builtin/tools/tool.ts';
import { fileFault, placeInWorkspace, quoted, type Place } from '../builtin/tools/workspace-path.ts';
import { relativePath } from '../wire/relative-path.ts';
import { INVALID_PARAMS, NOT_FOUND, paramsOf, RequestFault } from '../wire/request-fault.ts';

/** A file that an agent may read or write through its client, at most. */
const FILE_LIMIT_BYTES = 10 * 1024 * 1024;

const ReadParams = z.object({
  path: z.string(),
  line: z.int().positive().nullish(),
  limit: z.int().nonnegative().nullish(),
});
const WriteParams = z.object({ path: z.string(), content: z.string() });

/** A file as it was at a moment: a text, or that there was none. */
export type FileLook = { readonly text: string | null; readonly writtenAtMs: number } | null;

const ABSENT: FileLook = { text: null, writtenAtMs: -Infinity };

/**
 * The files that an agent reads and writes through its client, where its editor's buffers would be: those of the workspace.
 *
 * **Contract:** a path that leads out of the workspace, by its name or through a link, is refused and nothing is touched.
 */
export class ClientFiles {
  readonly #workspace: string;
  readonly #roots: readonly string[];

  /** `roots`: the workspace by each of its names. */
  constructor(workspace: string, roots: readonly string[]) {
    this.#workspace = workspace;
    this.#roots = roots;
  }

  async read(params: unknown): Promise<{ content: string }> {
    const { path, line, limit } = paramsOf(ReadParams, params);
    const { place, shown } = await this.#placeOf(path);
    const text = await told(async () => await textAt(place, shown), shown);
    if (line == null && limit == null) return { content: text };
    const first = (line ?? 1) - 1;
    const lines = text.split(/(?<=\n)/);
    return { content: lines.slice(first, limit == null ? undefined : first + limit).join('') };
  }

  async write(params: unknown): Promise<Record<string, never>> {
    const { path, content } = paramsOf(WriteParams, params);
    const bytes = Buffer.from(content, 'utf8');
    if (bytes.length > FILE_LIMIT_BYTES) {
      throw new RequestFault(INVALID_PARAMS, `the content is over ${String(FILE_LIMIT_BYTES)} bytes; write less`);
    }
    const { root, place, shown } = await this.#placeOf(path);
    if (place === root) throw new RequestFault(INVALID_PARAMS, 'the path names the workspace itself');
    await told(async () => {
      await mkdir(dirname(place), { recursive: true });
      const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW, O_NONBLOCK } = constants;
      const file = await open(place, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK, 0o644);
      try {
        await file.writeFile(bytes);
      } finally {
        await file.close();
      }
    }, shown);
    return {};
  }

  /** What a file holds now; null where there is none, or none that may be read. */
  async textOf(path: string): Promise<string | null> {
    return (await this.look(path))?.text ?? null;
  }

  /** The same, with the time of its last change; null for what may not be read. */
  async look(path: string): Promise<FileLook> {
    try {
      const { place, shown } = await this.#placeOf(path);
      return await told(async () => await fileAt(place, shown), shown);
    } catch (error) {
      return error instanceof RequestFault && error.code === NOT_FOUND ? ABSENT : null;
    }
  }

  async #placeOf(path: string): Promise<Place> {
    const relative = relativePath(this.#roots, path);
    return await told(async () => await placeInWorkspace(this.#workspace, relative), relative);
  }
}

async function textAt(place: string, shown: string): Promise<string> {
  return (await fileAt(place, shown)).text;
}

async function fileAt(place: string, shown: string): Promise<{ text: string; writtenAtMs: number }> {
  // without O_NONBLOCK opening a pipe would wait for its writer
  const file = await open(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stat = await file.stat();
    if (!stat.isFile()) throw new ToolFault(`${quoted(shown)} is not a regular file`);
    if (stat.size > FILE_LIMIT_BYTES) throw new ToolFault(`${quoted(shown)} is over ${String(FILE_LIMIT_BYTES)} bytes`);
    const text = await file.readFile('utf8');
    // asked last: who writes while it is read is noticed
    return { text, writtenAtMs: (await file.stat()).mtimeMs };
  } finally {
    await file.close();
  }
}

async function told<T>(work: () => Promise<T>, shown: string): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    throw new RequestFault(isMissing ? NOT_FOUND : INVALID_PARAMS, fileFault(error, shown).message);
  }
}
