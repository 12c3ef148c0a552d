import { z } from 'zod';
import type { NativeFrame } from '../../../contract/frames.ts';
import { messageOf, type LcMessage } from './lc-messages.ts';
import { messageWhole } from './said-messages.ts';
import type { Scribe } from './scribe.ts';
import type { Speaker } from './speakers.ts';
import { resultWritten } from './tool-calls.ts';

const INTERRUPT = '__interrupt__';
const Messages = z.object({ messages: z.union([z.array(z.unknown()), z.unknown().transform((one) => [one])]) });
/** How the summarizing middleware of deepagents notes that it put a summary in place of older messages. */
const Summarized = z.object({ _summarizationEvent: z.object({}) });

/** What a node has changed in the graph's state. */
export function translateUpdate(
  scribe: Scribe,
  speaker: Speaker,
  update: { node: string; values: unknown; frame: NativeFrame },
): string {
  const { node, values, frame } = update;
  if (node === INTERRUPT) {
    scribe.remember({ isAsking: true });
    return 'the platform asks';
  }
  for (const value of Array.isArray(values) ? values : [values]) {
    const messages = messagesIn(value);
    // a node that removes messages tells the conversation again
    const isRewritten = messages.some(({ kind }) => kind === 'removal');
    if (Summarized.safeParse(value).success || (isRewritten && /summar|compact/i.test(node)))
      compacted(scribe, speaker, node);
    if (isRewritten) continue;
    for (const message of messages) said(scribe, speaker, { node, message, frame });
  }
  return 'what a node changed and its messages said';
}

function said(
  scribe: Scribe,
  speaker: Speaker,
  { node, message, frame }: { node: string; message: LcMessage; frame: NativeFrame },
): void {
  if (message.kind === 'agent') messageWhole(scribe, { speaker, id: message.id ?? node }, message);
  if (message.kind === 'tool') resultWritten(scribe, speaker, message, frame);
}

function compacted(scribe: Scribe, speaker: Speaker, sourceEventType: string): void {
  const title = 'the conversation was compacted';
  scribe.say(speaker, { kind: 'context.marker', markerType: 'memory', title, sourceEventType });
}

function messagesIn(value: unknown): LcMessage[] {
  const listed = Messages.safeParse(value).data?.messages ?? [];
  return listed.map(messageOf).filter((message) => message !== null);
}
