import type { ServerResponse } from 'node:http';
import { stream, type Asked } from './hostile-server-testkit.ts';

/** A thread's log as a gateway would send it: `texts` as deltas of one message, then the completion record. */
export class ThreadLog {
  readonly threadId: string;
  readonly texts: readonly string[];

  constructor(threadId: string, texts: readonly string[]) {
    this.threadId = threadId;
    this.texts = texts;
  }

  get head(): number {
    return this.texts.length + 1;
  }

  /** The frames behind a cursor, and `caught-up`. */
  after(cursor: number): string {
    return `${this.frames(cursor).join('')}${this.caughtUp()}`;
  }

  caughtUp(): string {
    return `event: caught-up\ndata: {"threadId":"${this.threadId}","head":${String(this.head)}}\n\n`;
  }

  frames(cursor = 0): string[] {
    const { threadId } = this;
    const events = this.texts.map((text, i) => frame(i + 1, 'canonical', { threadId, event: this.event(i, text) }));
    const complete = {
      runId: 'run_1',
      status: 'complete',
      digest: 'd',
      events: this.texts.length,
      deliverySeq: this.head,
    };
    return [...events, frame(this.head, 'canonical-complete', { threadId, complete })].slice(cursor);
  }

  event(index: number, text: string) {
    return {
      schemaVersion: 1,
      eventId: `run_1:m:${String(index)}`,
      seq: index,
      runId: 'run_1',
      threadId: this.threadId,
      ts: 1,
      identity: { provider: 'test' },
      kind: 'message.delta',
      messageId: 'm',
      text,
      deliverySeq: index + 1,
      revision: 0,
    };
  }

  /** Answers as a gateway does that is well. */
  serve(res: ServerResponse, { query }: Pick<Asked, 'query'>): void {
    stream(res);
    res.write(this.after(Number(query.get('after') ?? 0)));
  }
}

export function frame(id: number, event: string, data: unknown): string {
  return `id: ${String(id)}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
