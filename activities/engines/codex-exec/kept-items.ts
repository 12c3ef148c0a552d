import { basename } from 'node:path';
import type { ClientFiles, FileLook } from '../files/client-files.ts';
import type { Item, Kept } from '../codex/codex-schema.ts';
import { keptOutput } from '../codex/kept-items.ts';
import type { DriverContext } from '../driver.ts';
import { editDiffOf } from '../files/edit-diff.ts';
import { FileWitness } from '../files/file-witness.ts';
import { ItemEvent, toolItemOf } from './exec-schema.ts';
import type { ExecEvent } from './frames.ts';

const FILES_A_PATCH = 50;

type Change = Item['changes'][number];

/**
 * Keeps what is large in what one process says: an output that the timeline shows only the beginning of, and the diff of each file
 * that a patch changed. The engine names the files and gives no diff, so they are read: before the patch where we are in time, and
 * after it.
 */
export class KeptItems {
  readonly #keep: DriverContext['keep'];
  readonly #roots: readonly string[];
  readonly #witness: FileWitness;
  /** What the files of the patches that are under way held before, by the item's id and the path. */
  readonly #before = new Map<string, Map<string, FileLook>>();

  /** `roots`: the workspace by each of its names. */
  constructor(parts: { keep: DriverContext['keep']; files: Pick<ClientFiles, 'look'>; roots: readonly string[] }) {
    this.#keep = parts.keep;
    this.#roots = parts.roots;
    this.#witness = new FileWitness(parts.files);
  }

  /** What stands for the large parts of an event; null where there is nothing of the kind. */
  async take(event: ExecEvent): Promise<Kept | null> {
    const parsed = ItemEvent.safeParse(event).data?.item;
    const item = parsed === undefined ? null : toolItemOf(parsed);
    if (item === null) return null;
    const isOver = event['type'] === 'item.completed';
    if (item.type !== 'fileChange') return isOver ? await keptOutput(item, this.#keep) : null;
    if (!isOver) return await this.#lookAt(item);
    const before = this.#before.get(item.id) ?? new Map<string, FileLook>();
    this.#before.delete(item.id);
    if (item.status !== 'completed') return null;
    return {
      diffs: await Promise.all(item.changes.map((change) => this.#diffOf(change, before.get(change.path) ?? null))),
    };
  }

  async #lookAt({ id, changes }: Item): Promise<null> {
    const before = this.#before.get(id) ?? new Map<string, FileLook>();
    this.#before.set(id, before);
    for (const { path } of changes) {
      if (before.has(path) || before.size >= FILES_A_PATCH) continue;
      before.set(path, await this.#witness.look(path));
    }
    return null;
  }

  async #diffOf({ path, kind: { type } }: Change, seen: FileLook) {
    const told = { wasAbsent: type === 'add', isDelete: type === 'delete' };
    const { text, ...change } = editDiffOf(await this.#witness.editOf(path, seen, told), this.#roots);
    if (text === null) return change;
    const name = `${basename(path)}.diff`;
    return { ...change, diff: await this.#keep({ name, contentType: 'text/x-diff', text }) };
  }
}
