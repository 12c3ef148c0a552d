import { z } from 'zod';
import type { ClientFiles, FileLook } from './client-files.ts';
import type { ToolCallPatch } from './open-tools.ts';

/** What a call did to a file; `undefined` for a text that nobody knows. */
export interface FileEdit {
  readonly path: string;
  readonly before: string | null | undefined;
  readonly after: string | null | undefined;
  readonly isDelete: boolean;
}

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
/** The clock of the file system lags behind the process's by a tick. */
const CLOCK_SLACK_MS = 20;

const REMEMBERED_FILES = 1_000;

const NewFile = z.object({ metadata: z.object({ exists: z.literal(false) }) });

/**
 * What tools change of which the agent gives no diff, such as a write of OpenCode that it asks nobody about: their files are looked
 * at when the agent names them, and again when the call has ended.
 *
 * **Contract:** an agent does not wait for us, and what it says of a call may come seconds after the call was over. So a text is taken
 * for the one before only if the file was not written since the agent was started, or since a call of it ended that we looked at. A
 * call whose agent gives a diff, in any of its updates, gives nothing here.
 */
export class UnsaidEdits {
  readonly #files: Pick<ClientFiles, 'look'>;
  readonly #calls = new Map<string, Call>();
  readonly #startedAtMs = Date.now();
  /** When the files of calls that have ended were written last. */
  readonly #written = new Map<string, number>();
  #heldChars = 0;

  constructor(files: Pick<ClientFiles, 'look'>) {
    this.#files = files;
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
      const seen = this.#heldChars < HELD_CHARS ? await this.#files.look(path) : null;
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
    const isAsBefore = seen !== null && this.#isAsBefore(path, seen.writtenAtMs);
    const now = await this.#files.look(path);
    if (now !== null) this.#noteWritten(path, now.writtenAtMs);
    // where we looked too late, or in vain, OpenCode says at least whether there was a file
    const unseen = NewFile.safeParse(patch.rawOutput).success ? null : undefined;
    const before = isAsBefore ? seen.text : unseen;
    const isGone = before != null && now?.text === null;
    return { path, before, after: now?.text, isDelete: isGone || call.kind === 'delete' };
  }

  #isAsBefore(path: string, writtenAtMs: number): boolean {
    return writtenAtMs < this.#startedAtMs - CLOCK_SLACK_MS || writtenAtMs === this.#written.get(path);
  }

  #noteWritten(path: string, writtenAtMs: number): void {
    this.#written.set(path, writtenAtMs);
    const [oldest] = this.#written.keys();
    if (this.#written.size > REMEMBERED_FILES && oldest !== undefined) this.#written.delete(oldest);
  }
}
