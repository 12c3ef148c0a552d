import { z } from 'zod';
import type { TurnFate } from '../driver.ts';
import { Message, Part } from './opencode-schema.ts';

/** A message as the server keeps it, with its parts. Both are as they came, for they are told again as events. */
const Stored = z.array(
  z.object({
    info: z.record(z.string(), z.unknown()),
    parts: z.array(z.record(z.string(), z.unknown())).catch([]),
  }),
);
export type StoredMessage = z.infer<typeof Stored>[number];

/** What goes with the text of a prompt, for a later process to know whose it was. */
export function markOf(runId: string): { readonly tidemark: { readonly runId: string } } {
  return { tidemark: { runId } };
}

const Mark = z.object({ tidemark: z.object({ runId: z.string() }) });

/** The messages of a session that follow the last prompt of a run; null where the session never heard of the run. */
export function messagesOfRun(body: unknown, runId: string): readonly StoredMessage[] | null {
  const messages = Stored.safeParse(body).data ?? [];
  const prompt = messages.findLastIndex(({ parts }) => parts.some((part) => runOf(part) === runId));
  return prompt < 0 ? null : messages.slice(prompt + 1);
}

/** All messages of a session, as of one that a sub-agent was given. */
export function messagesIn(body: unknown): readonly StoredMessage[] {
  return Stored.safeParse(body).data ?? [];
}

/** What became of a run's turn that nobody watched: it has failed, or its last message says that the model had no more to do. */
export function fateOf(messages: readonly StoredMessage[] | null): TurnFate {
  if (messages === null) return 'unknown';
  const last = messages.map(({ info }) => Message.safeParse(info).data).findLast((info) => info?.role === 'assistant');
  if (last === undefined || last.time.completed == null) return 'in_progress';
  if (last.error != null) return last.error.name === 'MessageAbortedError' ? 'in_progress' : 'failed';
  return last.finish == null || last.finish === 'tool-calls' || last.finish === 'unknown' ? 'in_progress' : 'completed';
}

function runOf(part: unknown): string | null {
  return Mark.safeParse(Part.safeParse(part).data?.metadata).data?.tidemark.runId ?? null;
}
