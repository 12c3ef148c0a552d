import { basename } from 'node:path';
import { z } from 'zod';
import { PREVIEW_LIMIT_CHARS } from '../../../contract/platform-frames.ts';
import type { DriverContext } from '../driver.ts';
import { editDiffOf } from '../files/edit-diff.ts';
import type { FileEdit } from '../files/file-witness.ts';
import type { NamedArtifact } from '../named-artifact.ts';
import type { WireFrame, WireMessage } from '../wire/wire-frame.ts';
import type { ClientFiles } from '../files/client-files.ts';
import { ToolCallPatch } from './open-tools.ts';
import { UnsaidEdits } from './unsaid-edits.ts';
import { WholeOutput } from './whole-output.ts';

/** What stands beside a message in its frame: what was taken out of it, and paths as the workspace has them. */
export interface Kept {
  readonly diffs?: readonly KeptDiff[];
  readonly output?: NamedArtifact;
}

export interface KeptDiff {
  readonly path: string;
  readonly changeType: 'create' | 'edit' | 'delete';
  /** Missing where the texts are too large to compare. */
  readonly diff?: NamedArtifact;
}

/** Agents repeat a diff with each update of its call. */
const REMEMBERED_DIFFS = 100;

const Diff = z.object({
  type: z.literal('diff'),
  path: z.string(),
  oldText: z.string().nullish(),
  newText: z.string(),
});
const Write = z.object({ path: z.string(), content: z.string() });

/** Finds what is large in an agent's messages, diffs and outputs of tools, and keeps it as artifacts. */
export class KeptContent {
  readonly #keep: DriverContext['keep'];
  readonly #files: ClientFiles;
  readonly #roots: readonly string[];
  readonly #outputs = new WholeOutput();
  readonly #unsaid: UnsaidEdits;
  readonly #diffs = new Map<string, NamedArtifact>();

  constructor(parts: { keep: DriverContext['keep']; files: ClientFiles; roots: readonly string[] }) {
    this.#keep = parts.keep;
    this.#files = parts.files;
    this.#unsaid = new UnsaidEdits(parts.files);
    this.#roots = parts.roots;
  }

  async keptOf(dir: WireFrame['dir'], { method, params }: WireMessage): Promise<Kept | null> {
    if (dir === 'send' || typeof params !== 'object' || params === null) return null;
    if (method === 'fs/write_text_file') return await this.#ofWrite(params);
    if (method === 'session/request_permission' && 'toolCall' in params) return await this.#ofTool(params.toolCall);
    if (method === 'session/update' && 'update' in params) return await this.#ofTool(params.update);
    return null;
  }

  async #ofWrite(params: unknown): Promise<Kept | null> {
    const write = Write.safeParse(params);
    if (!write.success) return null;
    const { path, content } = write.data;
    const before = await this.#files.textOf(path);
    // opencode writes an approved edit itself, and then through its client once more
    if (before === content) return { diffs: [] };
    return { diffs: [await this.#diffOf({ path, before, after: content, isDelete: false })] };
  }

  async #ofTool(update: unknown): Promise<Kept | null> {
    const parsed = ToolCallPatch.safeParse(update);
    if (!parsed.success) return null;
    const call = parsed.data;
    const diffs: KeptDiff[] = [];
    for (const item of call.content ?? []) {
      const { data: diff } = Diff.safeParse(item);
      if (diff === undefined) continue;
      const { path, oldText, newText } = diff;
      diffs.push(
        await this.#diffOf({ path, before: oldText ?? null, after: newText, isDelete: call.kind === 'delete' }),
      );
    }
    for (const edit of await this.#unsaid.take(call)) diffs.push(await this.#diffOf(edit));
    const output = await this.#outputOf(call);
    if (diffs.length === 0 && output === null) return null;
    return { ...(diffs.length > 0 ? { diffs } : {}), ...(output === null ? {} : { output }) };
  }

  async #outputOf(call: ToolCallPatch): Promise<NamedArtifact | null> {
    const text = this.#outputs.take(call);
    if (text === null || text.length <= PREVIEW_LIMIT_CHARS) return null;
    const name = `output-${fileName(call.toolCallId)}.txt`;
    return await this.#keep({ name, contentType: 'text/plain; charset=utf-8', text });
  }

  async #diffOf(edit: FileEdit): Promise<KeptDiff> {
    const { path, changeType, text } = editDiffOf(edit, this.#roots);
    if (text === null) return { path, changeType };
    const known = this.#diffs.get(text);
    if (known !== undefined) return { path, changeType, diff: known };
    const diff = await this.#keep({ name: `${fileName(basename(path))}.diff`, contentType: 'text/x-diff', text });
    this.#diffs.set(text, diff);
    const [oldest] = this.#diffs.keys();
    if (this.#diffs.size > REMEMBERED_DIFFS && oldest !== undefined) this.#diffs.delete(oldest);
    return { path, changeType, diff };
  }
}

function fileName(text: string): string {
  return text.replaceAll(/[^\p{L}\p{N}._-]+/gu, '-').slice(0, 80) || 'output';
}
