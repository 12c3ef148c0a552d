import { hash } from 'node:crypto';
import { basename } from 'node:path';
import type { DriverContext } from '../driver.ts';
import { relativePath } from '../wire/relative-path.ts';
import { changesOfDiffs, changesOfTool, type FileChange } from './file-changes.ts';
import { MessageUpdate, PartUpdate, type Kept, type Part, type ServerEvent } from './opencode-schema.ts';
import { unifiedDiff } from './unified-diff.ts';

/** An output that is longer than its preview in the timeline is kept whole. */
const PREVIEWED_CHARS = 2_000;
type KeptDiff = NonNullable<Kept['diffs']>[number];

/**
 * Keeps what is large in an event, and gives what stands for it in the frame: each diff, of a tool's call that has ended and of a
 * turn, and an output that the timeline shows only the beginning of.
 */
export class KeptParts {
  readonly #keep: DriverContext['keep'];
  readonly #roots: readonly string[];
  /** What was kept last of each file: a turn tells its changes again and again. */
  readonly #kept = new Map<string, { readonly text: string; readonly diff: KeptDiff }>();

  /** `roots`: the workspace by each of its names; paths in it are given relative to it. */
  constructor({ keep, roots }: { keep: DriverContext['keep']; roots: readonly string[] }) {
    this.#keep = keep;
    this.#roots = roots;
  }

  async keptOf({ type, properties }: ServerEvent): Promise<Kept | null> {
    if (type === 'message.updated') return await this.#ofTurn(properties);
    const part = type === 'message.part.updated' ? PartUpdate.safeParse(properties).data?.part : undefined;
    return part?.type === 'tool' && part.state.status === 'completed' ? await this.#ofTool(part) : null;
  }

  async #ofTurn(properties: unknown): Promise<Kept | null> {
    const summary = MessageUpdate.safeParse(properties).data?.info.summary;
    if (typeof summary !== 'object' || summary === null || summary.diffs.length === 0) return null;
    return { diffs: await this.#keptDiffs(changesOfDiffs(summary.diffs)) };
  }

  async #ofTool(part: Part): Promise<Kept | null> {
    const changes = changesOfTool(part);
    const { output } = part.state;
    if (changes.length === 0 && output.length <= PREVIEWED_CHARS) return null;
    return {
      ...(changes.length === 0 ? {} : { diffs: await this.#keptDiffs(changes) }),
      ...(output.length <= PREVIEWED_CHARS ? {} : { output: await this.#keptOutput(part) }),
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
