/** One block of a stream of server-sent events. `data` is null where the block has none: it moves the cursor alone. */
export interface StreamBlock {
  readonly id: string | null;
  readonly event: string;
  readonly data: string | null;
  readonly retryMs: number | null;
}

/** A block over this is no block of a gateway's. */
const BLOCK_LIMIT_CHARS = 64 * 1024 * 1024;

/**
 * Bytes of a stream of server-sent events, in pieces of any size, to its blocks.
 *
 * **Contract:** where the bytes were cut makes no difference, inside a character or between CR and LF neither; what stands
 * behind the last empty line is kept for the next piece, and never given when none comes.
 *
 * @throws Error for bytes that are no UTF-8, and for a block without an end.
 */
export class EventStreamParser {
  // `fatal`: a garbled byte must break the stream, not become another character of someone's text
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });
  #rest = '';
  /** So much of the rest is known to hold no line's end: a long line is not searched again with each piece. */
  #searched = 0;
  #draft: { id: string | null; event: string; data: string[]; retryMs: number | null } = emptyDraft();
  #draftChars = 0;

  push(bytes: Uint8Array): StreamBlock[] {
    this.#rest += this.#decoder.decode(bytes, { stream: true });
    const blocks: StreamBlock[] = [];
    for (let line = this.#nextLine(); line !== null; line = this.#nextLine()) {
      if (line !== '') this.#take(line);
      else if (this.#draftChars > 0) blocks.push(this.#closeBlock());
    }
    if (this.#rest.length + this.#draftChars > BLOCK_LIMIT_CHARS) throw new Error('a block of the stream has no end');
    return blocks;
  }

  /** Null where the line may go on. A CR at the very end may be half of a CRLF. */
  #nextLine(): string | null {
    const lineEnd = /[\r\n]/g;
    lineEnd.lastIndex = this.#searched;
    const end = lineEnd.exec(this.#rest)?.index ?? this.#rest.length;
    if (end >= this.#rest.length - (this.#rest[end] === '\r' ? 1 : 0)) {
      this.#searched = end;
      return null;
    }
    const line = this.#rest.slice(0, end);
    this.#rest = this.#rest.slice(end + (this.#rest.startsWith('\r\n', end) ? 2 : 1));
    this.#searched = 0;
    return line;
  }

  #take(line: string): void {
    this.#draftChars += line.length;
    const colon = line.indexOf(':');
    if (colon === 0) return; // a comment
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (field === 'data') this.#draft.data.push(value);
    else if (field === 'event') this.#draft.event = value;
    else if (field === 'id' && !value.includes('\0')) this.#draft.id = value;
    else if (field === 'retry' && /^\d{1,9}$/.test(value)) this.#draft.retryMs = Number(value);
  }

  #closeBlock(): StreamBlock {
    const { id, event, data, retryMs } = this.#draft;
    this.#draft = emptyDraft();
    this.#draftChars = 0;
    return { id, event: event === '' ? 'message' : event, data: data.length === 0 ? null : data.join('\n'), retryMs };
  }
}

function emptyDraft() {
  return { id: null, event: '', data: [], retryMs: null };
}
