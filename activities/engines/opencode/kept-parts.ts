import { hash } from 'node:crypto';
import { basename } from 'node:path';
import { createTwoFilesPatch } from 'diff';
import { PREVIEW_LIMIT_CHARS } from '../../../contract/platform-frames.ts';
import type { ClientFiles } from '../files/client-files.ts';
import { UnsaidEdits } from '../acp/unsaid-edits.ts';
import type { DriverContext } from '../driver.ts';
import type { FileEdit } from '../files/file-witness.ts';
import { relativePath } from '../wire/relative-path.ts';
import { changesOfDiffs, changesOfTool, type FileChange } from './file-changes.ts';
import { MessageUpdate, PartUpdate, type Kept, type Part, type ServerEvent } from './opencode-schema.ts';
import { unifiedDiff } from './unified-diff.ts';

type KeptDiff = NonNullable<Kept['diffs']>[number];

/** The tool that gives no diff of what it does. */
const WRITES = 'write';
const COMPARED_EDITS = 5_000;

/**
 * Keeps what is large in an event, and gives what stands for it in the frame: each diff, of a tool's call that has ended and of a
 * turn, and an output that the timeline shows only the beginning of.
 */
export class KeptParts {
  readonly #keep: DriverContext['keep'];
  readonly #roots: readonly string[];
  readonly #rewrites: UnsaidEdits;
  /** What was kept last of each file: a turn tells its changes again and again. */
  readonly #kept = new Map<string, { readonly text: string; readonly diff: KeptDiff }>();

  /** `roots`: the workspace by each of its names; paths in it are given relative to it. */
  constructor(parts: { keep: DriverContext['keep']; roots: readonly string[]; files: Pick<ClientFiles, 'look'> }) {
    this.#keep = parts.keep;
    this.#roots = parts.roots;
    this.#rewrites = new UnsaidEdits(parts.files);
  }

  async keptOf({ type, properties }: ServerEvent): Promise<Kept | null> {
    if (type === 'message.updated') return await this.#ofTurn(properties);
    const part = type === 'message.part.updated' ? PartUpdate.safeParse(properties).data?.part : undefined;
    if (part?.type !== 'tool') return null;
    const edits = part.tool === WRITES ? await this.#rewrites.take(patchOf(part)) : [];
    return part.state.status === 'completed' ? await this.#ofTool(part, edits) : null;
  }

  async #ofTurn(properties: unknown): Promise<Kept | null> {
    const summary = MessageUpdate.safeParse(properties).data?.info.summary;
    if (typeof summary !== 'object' || summary === null || summary.diffs.length === 0) return null;
    return { diffs: await this.#keptDiffs(changesOfDiffs(summary.diffs)) };
  }

  async #ofTool(part: Part, edits: readonly FileEdit[]): Promise<Kept | null> {
    const changes = changesOfTool(part).map((change) => (change.patch === '' ? withPatch(change, edits[0]) : change));
    const { output } = part.state;
    if (changes.length === 0 && output.length <= PREVIEW_LIMIT_CHARS) return null;
    return {
      ...(changes.length === 0 ? {} : { diffs: await this.#keptDiffs(changes) }),
      ...(output.length <= PREVIEW_LIMIT_CHARS ? {} : { output: await this.#keptOutput(part) }),
    };
  }

  async #keptOutput({ tool, state }: Part) {
    return await this.#keep({ name: `${tool}.txt`, contentType: 'text/plain; charset=utf-8', text: state.output });
  }

  async #keptDiffs(changes: readonly FileChange[]): Promise<KeptDiff[]> {
    return await Promise.all(changes.map(async (change) => await this.#keptDiff(change)));
  }

  async #keptDiff(change: FileChange): Promise<KeptDiff> {
    const { changeType } = change;
    const path = relativePath(this.#roots, change.path) || change.path;
    const text = unifiedDiff({ ...change, path });
    if (text === '') return { path, changeType };
    const known = this.#kept.get(path);
    if (known?.text === hash('sha256', text)) return known.diff;
    const name = `${basename(path)}.diff`;
    const diff = { path, changeType, diff: await this.#keep({ name, contentType: 'text/x-diff', text }) };
    this.#kept.set(path, { text: hash('sha256', text), diff });
    return diff;
  }
}

/** A call of a tool as it is seen by who looks at its file before and after. */
function patchOf({ id, state }: Part): Parameters<UnsaidEdits['take']>[0] {
  const path = state.input['filePath'];
  const ended: Readonly<Record<string, string>> = { completed: 'completed', error: 'failed' };
  const rest = { title: null, name: null, content: null, _meta: null };
  const locations = typeof path === 'string' && path !== '' ? [{ path }] : null;
  return { ...rest, toolCallId: id, kind: 'edit', status: ended[state.status] ?? 'in_progress', locations };
}

/** With the difference between the two texts, where both are known. */
function withPatch(change: FileChange, edit: FileEdit | undefined): FileChange {
  if (edit?.before == null || edit.after == null) return change;
  const { before, after } = edit;
  const options = { maxEditLength: COMPARED_EDITS };
  return { ...change, patch: createTwoFilesPatch('', '', before, after, undefined, undefined, options) ?? '' };
}
