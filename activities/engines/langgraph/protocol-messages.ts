import { z } from 'zod';
import { entryOf, withEntry } from '../bounded-table.ts';
import { faultText } from '../fault-text.ts';
import { cutShort } from '../hosted/cut-short.ts';
import { ToolCall, usageOf } from './lc-messages.ts';
import {
  callWritten,
  isOpen,
  modelNamed,
  noted,
  pieceWritten,
  seen,
  textOver,
  usageCounted,
  type Writing,
} from './said-messages.ts';
import type { Scribe } from './scribe.ts';
import type { Speaker } from './speakers.ts';
import { TABLE_LIMITS } from './translation-state.ts';

const text = z.string().catch('');
const MessageEvent = z.object({
  event: z.string(),
  run_id: text,
  id: text,
  role: text,
  index: z.union([z.number(), z.string()]).catch(0),
  content: z.unknown().optional(),
  delta: z.unknown().optional(),
  usage: z.unknown().optional(),
  reason: text,
  message: text,
  responseMetadata: z.object({ model_name: text }).catch({ model_name: '' }),
  payload: z.object({ model: text }).catch({ model: '' }),
});
type MessageEvent = z.infer<typeof MessageEvent>;

const Written = z.union([
  z
    .object({ type: z.enum(['text', 'text-delta']), text: z.string() })
    .transform((block) => ({ kind: 'message' as const, text: block.text })),
  z
    .object({ type: z.enum(['reasoning', 'reasoning-delta']), reasoning: z.string() })
    .transform((block) => ({ kind: 'reasoning' as const, text: block.reasoning })),
  z
    .object({ type: z.literal('thinking'), thinking: z.string() })
    .transform((block) => ({ kind: 'reasoning' as const, text: block.thinking })),
]);
const CallBlock = ToolCall.extend({ type: z.literal('tool_call') });
/** Whose messages are not a model's: the conversation told again. */
const OTHERS = new Set(['human', 'user', 'system', 'tool']);
const NOBODY = '';

/** The protocol's channel `messages`: a message as its blocks. Null for an event that it does not have. */
export function translateMessageEvent(
  scribe: Scribe,
  speaker: Speaker,
  { data, place }: { data: unknown; place: string },
): string | null {
  const event = MessageEvent.safeParse(data).data;
  if (event === undefined) return null;
  const stream = event.run_id || place;
  if (event.event === 'message-start') {
    const begun = OTHERS.has(event.role) ? NOBODY : event.id || stream;
    scribe.remember({ streams: withEntry(scribe.state.streams, stream, begun, TABLE_LIMITS.streams) });
    return 'a message begins with its first piece';
  }
  const id = entryOf(scribe.state.streams, stream) ?? stream;
  return id === NOBODY ? 'not the words of the agent' : goesOn(scribe, { speaker, id }, event);
}

function goesOn(scribe: Scribe, writing: Writing, event: MessageEvent): string | null {
  const part = String(event.index);
  switch (event.event) {
    case 'content-block-start':
    case 'content-block-delta': {
      const piece = Written.safeParse(event.delta ?? event.content).data;
      if (piece !== undefined) pieceWritten(scribe, writing, { ...piece, part });
      return 'a piece without text';
    }
    case 'content-block-finish':
      blockFinished(scribe, writing, { content: event.content, part });
      return 'a block that was said';
    case 'message-finish':
      finished(scribe, writing, event);
      return 'the end of a message that was said';
    case 'provider':
      modelNamed(scribe, writing.speaker, event.payload.model);
      return 'what the provider tells of the call';
    case 'usage':
      return 'counted when the message is whole';
    case 'error': {
      const message = faultText(event.message);
      scribe.say(writing.speaker, { kind: 'harness.error', message, fatal: false, code: 'model_error' });
      return 'said';
    }
    default:
      return null;
  }
}

function blockFinished(scribe: Scribe, writing: Writing, { content, part }: { content: unknown; part: string }): void {
  const block = Written.safeParse(content).data;
  if (block !== undefined) {
    if (!isOpen(scribe, writing, { kind: block.kind, part })) pieceWritten(scribe, writing, { ...block, part });
    textOver(scribe, writing, { kind: block.kind, part });
  }
  const call = CallBlock.safeParse(content).data;
  if (call !== undefined) callWritten(scribe, writing, call);
}

function finished(scribe: Scribe, writing: Writing, { usage, reason, responseMetadata }: MessageEvent): void {
  const tokens = usageOf(usage);
  if (tokens !== null && !seen(scribe, writing).isCounted) usageCounted(scribe, writing, tokens);
  modelNamed(scribe, writing.speaker, responseMetadata.model_name);
  if (!seen(scribe, writing).isWhole) scribe.say(writing.speaker, ...cutShort(reason, 'message-finish'));
  noted(scribe, writing, { isWhole: true });
}
