import { z } from 'zod';
import { FileWitness, type FileEdit } from '../files/file-witness.ts';
import type { ClientFiles, FileLook } from '../files/client-files.ts';
import type { ToolCallPatch } from './open-tools.ts';

interface Call {
  /** What its files held before, by the path that the agent gives. */
  readonly before: Map<string, FileLook>;
  kind: string | null;
  hasDiff: boolean;
}

const CHANGING_KINDS: ReadonlySet<string> = new Set(['edit', 'delete']);
const REMEMBERED_CALLS = 200;
const FILES_A_CALL = 50;
/** Of all texts that are held for calls which run. */
const HELD_CHARS = 16_000_000;
/** OpenCode says whether there was a file that it wrote. */
const NewFile = z.object({ metadata: z.object({ exists: z.literal(false) }) });

/**
 * What tools change of which the agent gives no diff, such as a write of OpenCode that it asks nobody about: their files are looked
 * at when the agent names them, and again when the call has ended.
 *
 * **Contract:** what was there before is `FileWitness`'s to say. A call whose agent gives a diff, in any of its updates, gives nothing
 * here.
 */
export class UnsaidEdits {
  readonly #witness: FileWitness;
  readonly #calls = new Map<string, Call>();
  #heldChars = 0;

  constructor(files: Pick<ClientFiles, 'look'>) {
    this.#witness = new FileWitness(files);
  }

  /** Takes an update of a call; gives what the call changed with the one that ends it well. */
  async take(patch: ToolCallPatch): Promise<readonly FileEdit[]> {
    const call = this.#callOf(patch);
    if (patch.status === 'completed' || patch.status === 'failed') {
      this.#forget(patch.toolCallId);
      if (patch.status === 'failed' || call.hasDiff) return [];
      return await Promise.all([...call.before].map(([path, seen]) => this.#edit(path, seen, { call, patch })));
    }
    if (call.hasDiff || !CHANGING_KINDS.has(call.kind ?? '')) return [];
    for (const { path } of patch.locations ?? []) {
      if (call.before.has(path) || call.before.size >= FILES_A_CALL) continue;
      const seen = this.#heldChars < HELD_CHARS ? await this.#witness.look(path) : null;
      call.before.set(path, seen);
      this.#heldChars += seen?.text?.length ?? 0;
    }
    return [];
  }

  #callOf({ toolCallId, kind, content }: ToolCallPatch): Call {
    const known = this.#calls.get(toolCallId);
    const call = known ?? { before: new Map<string, FileLook>(), kind: null, hasDiff: false };
    call.kind = kind ?? call.kind;
    call.hasDiff ||= (content ?? []).some((item) => z.object({ type: z.literal('diff') }).safeParse(item).success);
    this.#calls.set(toolCallId, call);
    const [oldest] = this.#calls.keys();
    if (this.#calls.size > REMEMBERED_CALLS && oldest !== undefined) this.#forget(oldest);
    return call;
  }

  #forget(toolCallId: string): void {
    for (const seen of this.#calls.get(toolCallId)?.before.values() ?? []) this.#heldChars -= seen?.text?.length ?? 0;
    this.#calls.delete(toolCallId);
  }

  async #edit(path: string, seen: FileLook, { call, patch }: { call: Call; patch: ToolCallPatch }): Promise<FileEdit> {
    const wasAbsent = NewFile.safeParse(patch.rawOutput).success;
    return await this.#witness.editOf(path, seen, { wasAbsent, isDelete: call.kind === 'delete' });
  }
}
