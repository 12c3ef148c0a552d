import { basename } from 'node:path';
import { z } from 'zod';
import { PREVIEW_LIMIT_CHARS } from '../../../contract/platform-frames.ts';
import type { DriverContext } from '../driver.ts';
import { editDiffOf } from '../files/edit-diff.ts';
import { CHANGE_STATUS } from './extension/protocol.ts';
import type { PiMessage } from './pi-frames.ts';
import { textOf, ToolFrame, UiRequest, type Kept, type ToolResult } from './pi-schema.ts';

const REMEMBERED_CALLS = 200;

const ChangedFile = z.object({
  toolCallId: z.string().min(1),
  path: z.string().min(1),
  before: z.string().nullable(),
  after: z.string(),
});
type ChangedFile = z.infer<typeof ChangedFile>;

export interface KeptResultsParts {
  readonly keep: DriverContext['keep'];
  /** The workspace by each of its names; paths in it are given relative to it. */
  readonly roots: readonly string[];
}

/**
 * Keeps what is large in the result of a tool, and gives what stands for it in the frame of its end: a long output, and the diff of
 * each file that the extension has seen change since the call began.
 */
export class KeptResults {
  readonly #parts: KeptResultsParts;
  readonly #changed = new Map<string, readonly ChangedFile[]>();

  constructor(parts: KeptResultsParts) {
    this.#parts = parts;
  }

  /** Takes every message that pi says; null where there is nothing of the kind. */
  async keptOf(message: PiMessage): Promise<Kept | null> {
    if (message.type === 'extension_ui_request') this.#note(message);
    if (message.type !== 'tool_execution_end') return null;
    const ended = ToolFrame.safeParse(message).data;
    if (ended === undefined) return null;
    const { toolCallId, toolName, result } = ended;
    const changed = this.#changed.get(toolCallId);
    this.#changed.delete(toolCallId);
    const output = await this.#outputOf(toolName, result);
    const changes = changed === undefined ? null : await this.#changesOf(changed);
    if (output === null && changes === null) return null;
    return { ...(output === null ? {} : { output }), ...(changes === null ? {} : { changes }) };
  }

  #note(message: PiMessage): void {
    const request = UiRequest.safeParse(message).data;
    if (request?.statusKey !== CHANGE_STATUS) return;
    const change = changeIn(request.statusText ?? '');
    if (change === null) return;
    const { toolCallId } = change;
    this.#changed.set(toolCallId, [...(this.#changed.get(toolCallId) ?? []), change]);
    const [oldest] = this.#changed.keys();
    if (this.#changed.size > REMEMBERED_CALLS && oldest !== undefined) this.#changed.delete(oldest);
  }

  async #outputOf(toolName: string, { content, structuredContent }: ToolResult) {
    // a shell gives its model the end of a long output, and here more of it
    const text = structuredContent?.output ?? textOf(content);
    if (text.length <= PREVIEW_LIMIT_CHARS) return null;
    return await this.#parts.keep({ name: `${toolName}.txt`, contentType: 'text/plain; charset=utf-8', text });
  }

  /** A file that holds what it held before was not changed. */
  async #changesOf(changed: readonly ChangedFile[]): Promise<NonNullable<Kept['changes']>> {
    const real = changed.filter(({ before, after }) => before !== after);
    return await Promise.all(real.map((change) => this.#changeOf(change)));
  }

  async #changeOf({ path: absolute, before, after }: ChangedFile): Promise<NonNullable<Kept['changes']>[number]> {
    const { keep, roots } = this.#parts;
    const { path, text } = editDiffOf({ path: absolute, before, after, isDelete: false }, roots);
    const changeType = before === null ? 'create' : 'edit';
    if (text === null) return { path, changeType };
    return { path, changeType, diff: await keep({ name: `${basename(path)}.diff`, contentType: 'text/x-diff', text }) };
  }
}

function changeIn(text: string): ChangedFile | null {
  try {
    return ChangedFile.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}
