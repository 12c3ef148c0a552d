import { textOf, type AssistantMessage, type Message, type ToolResultMessage } from './agent-messages.ts';
import { utf8Bytes } from './frames.ts';
import { cutText } from './sanitize.ts';
import { TOOL_RESULT_LIMIT_BYTES, type NumberedLine } from './session-doctor.ts';
import type { SessionEntry, SessionHeader } from './session-entry.ts';
import type { SessionLine } from './session-jsonl.ts';

const NO_RESULT = 'error: the tool call was not completed; its outcome is unknown';
const CUT_NOTE = '\n[the rest was cut when the session was repaired]';

/**
 * The lines of a session without what `examineSession` finds: what cannot be understood, answers that failed, repeated calls and
 * results without a call are left out; a call without a result gets one that says so; a result that is too large is cut.
 *
 * **Contract:** pure. Every other message is there, in order, each entry with an id and the entry before it. Repaired once it
 * has nothing more to repair.
 */
export function repairedSession(lines: readonly NumberedLine[], fallback: SessionHeader): SessionLine[] {
  const understood = lines.flatMap(({ number, read }) => (read.ok ? [{ number, line: read.line }] : []));
  const header = understood.find(({ line }) => line.type === 'session')?.line ?? fallback;
  const repair = new Repair();
  for (const { number, line } of understood) if (line.type !== 'session') repair.take(line, number);
  return [header, ...repair.end()];
}

class Repair {
  readonly #kept: SessionLine[] = [];
  readonly #called = new Set<string>();
  readonly #open = new Map<string, { name: string; entry: SessionEntry }>();
  #parentId: string | null = null;

  take(line: Exclude<SessionLine, SessionHeader>, number: number): void {
    if (line.type === 'unknown') return void this.#kept.push(line);
    const entry = { ...line, id: line.id ?? `line-${String(number)}` };
    if (entry.type !== 'message') return this.#keep(entry);
    const { message } = entry;
    if (message.role === 'tool-result') {
      if (this.#open.delete(message.toolCallId)) this.#keep({ ...entry, message: cut(message) });
      return;
    }
    if (message.role === 'user') {
      this.#answerOpen();
      return this.#keep(entry);
    }
    if (message.stopReason === 'error') return;
    const content = this.#newCalls(message);
    const kept = { ...entry, message: { ...message, content } };
    for (const block of content)
      if (block.type === 'tool-call') this.#open.set(block.id, { name: block.name, entry: kept });
    this.#keep(kept);
  }

  end(): SessionLine[] {
    this.#answerOpen();
    return this.#kept;
  }

  #newCalls({ content }: AssistantMessage): AssistantMessage['content'] {
    return content.filter((block) => {
      if (block.type !== 'tool-call') return true;
      const isNew = !this.#called.has(block.id);
      this.#called.add(block.id);
      return isNew;
    });
  }

  /** A call is answered in its turn or never. */
  #answerOpen(): void {
    let index = 0;
    for (const [toolCallId, { name, entry }] of this.#open) {
      const { timestamp } = (entry as { message: Message }).message;
      const content = [{ type: 'text' as const, text: NO_RESULT }];
      const message = { role: 'tool-result', toolCallId, toolName: name, content, isError: true, timestamp } as const;
      const id = `${entry.id ?? ''}.repaired-${String(index++)}`;
      this.#keep({ type: 'message', id, parentId: null, timestamp: entry.timestamp, message });
    }
    this.#open.clear();
  }

  #keep(entry: SessionEntry): void {
    this.#kept.push({ ...entry, parentId: this.#parentId });
    this.#parentId = entry.id;
  }
}

function cut(message: ToolResultMessage): ToolResultMessage {
  const text = textOf(message.content);
  if (utf8Bytes(text) <= TOOL_RESULT_LIMIT_BYTES) return message;
  let kept = cutText(text, TOOL_RESULT_LIMIT_BYTES);
  while (utf8Bytes(kept) + CUT_NOTE.length > TOOL_RESULT_LIMIT_BYTES)
    kept = cutText(kept, Math.floor(kept.length * 0.9));
  return { ...message, content: [{ type: 'text', text: `${kept}${CUT_NOTE}` }] };
}
