import { z } from 'zod';
import { StopReason, textOf, Usage, type AssistantMessage, type ToolResultMessage } from './agent-messages.ts';
import type { CanonicalBody } from './canonical.ts';
import { cutText } from './sanitize.ts';
import { previewText, type NativeFrame } from './frames.ts';
import { PREVIEW_LIMIT_CHARS, previewInput } from './platform-frames.ts';
import { stateless, type Translated } from './translation.ts';

/**
 * The frames of a conversation that was held elsewhere: what a session file's messages are in a run's lane. They have a provider
 * tag of their own, since no engine said them here; their dialect is in this file.
 */
export const SESSION_PROVIDER = 'session';

/** With every unit escaped to six bytes this is still under the frame limit. */
const PIECE_CHARS = 4_000;

const piece = { contentIndex: z.int().nonnegative(), text: z.string(), isLast: z.boolean() };

const SessionFrame = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), ...piece }),
  z.object({ type: z.literal('thinking'), ...piece }),
  z.object({ type: z.literal('tool-call'), id: z.string().min(1), name: z.string(), arguments: z.unknown() }),
  z.object({
    type: z.literal('assistant-end'),
    stopReason: StopReason.optional(),
    api: z.string().optional(),
    provider: z.string().optional(),
    model: z.string().optional(),
    /** What the run has used so far. */
    total: Usage.optional(),
  }),
  z.object({
    type: z.literal('tool-result'),
    toolCallId: z.string().min(1),
    toolName: z.string(),
    isError: z.boolean(),
    preview: z.string(),
  }),
]);
type SessionFrame = z.infer<typeof SessionFrame>;

/** An assistant's message as frames: each under the frame limit, the text of all of them its whole text. */
export function framesOfAssistant(message: AssistantMessage, total: Usage | undefined): NativeFrame[] {
  const { stopReason, api, provider, model } = message;
  const frames = message.content.flatMap((block, contentIndex): SessionFrame[] => {
    if (block.type === 'text') return pieces('text', block.text, contentIndex);
    if (block.type === 'thinking') return pieces('thinking', block.thinking, contentIndex);
    return [{ type: 'tool-call', id: block.id, name: block.name, arguments: previewInput(block.arguments) }];
  });
  const shown = { stopReason, api: short(api), provider: short(provider), model: short(model), total };
  const end: SessionFrame = { type: 'assistant-end', ...withoutAbsent(shown) };
  return [...frames, end];
}

/** A tool's result as its frame: the beginning of its text. */
export function frameOfResult({ toolCallId, toolName, isError, content }: ToolResultMessage): NativeFrame {
  const preview = previewText(textOf(content), PREVIEW_LIMIT_CHARS);
  return { type: 'tool-result', toolCallId, toolName, isError, preview } satisfies SessionFrame;
}

/**
 * The dialect of these frames. A message's id is (run, step, position in the message), as the built-in engine's.
 *
 * **Contract:** pure and total: a frame that is malformed is `undefined`, and the caller says so.
 */
export const translateSessionFrame = stateless((raw, { runId, stepIndex }): Translated | undefined => {
  const parsed = SessionFrame.safeParse(raw);
  if (!parsed.success) return undefined;
  const frame = parsed.data;
  switch (frame.type) {
    case 'text':
    case 'thinking':
      return said(frame, `${runId}.${String(stepIndex)}.${String(frame.contentIndex)}`);
    case 'tool-call':
      return [{ body: { kind: 'tool.started', toolCallId: frame.id, name: frame.name, input: frame.arguments } }];
    case 'assistant-end':
      return frame.total === undefined
        ? { suppressed: 'the message reported no usage' }
        : [{ body: usageUpdated(frame.total) }];
    case 'tool-result': {
      const { toolCallId, isError, preview } = frame;
      const body: CanonicalBody = isError
        ? { kind: 'tool.completed', toolCallId, status: 'error', error: preview }
        : { kind: 'tool.completed', toolCallId, status: 'ok', preview };
      return [{ body }];
    }
  }
});

function said(frame: Extract<SessionFrame, { type: 'text' | 'thinking' }>, messageId: string): Translated {
  const { type, text, isLast } = frame;
  if (type === 'thinking') {
    if (text === '') return { suppressed: 'reasoning without words' };
    const end: CanonicalBody[] = isLast ? [{ kind: 'reasoning.completed', messageId }] : [];
    return [{ kind: 'reasoning.delta' as const, messageId, text }, ...end].map((body) => ({ body }));
  }
  const end: CanonicalBody[] = isLast ? [{ kind: 'message.completed', messageId }] : [];
  return [{ kind: 'message.delta' as const, messageId, text }, ...end].map((body) => ({ body }));
}

/** The contract's input leaves out what a cache gave; the grammar's holds all of the prompt, the cached part beside it. */
function usageUpdated({ input, output, cacheRead, cacheWrite }: Usage): CanonicalBody {
  const isCounted = input !== undefined || cacheRead !== undefined || cacheWrite !== undefined;
  return {
    kind: 'usage.updated',
    ...(isCounted ? { inputTokens: (input ?? 0) + (cacheRead ?? 0) + (cacheWrite ?? 0) } : {}),
    ...(output === undefined ? {} : { outputTokens: output }),
    ...(cacheRead === undefined ? {} : { cachedInputTokens: cacheRead }),
  };
}

/** A text in parts of bounded length, no surrogate pair torn; one part where it is empty. */
function pieces(type: 'text' | 'thinking', whole: string, contentIndex: number): SessionFrame[] {
  const frames: SessionFrame[] = [];
  let rest = whole;
  do {
    const text = cutText(rest, PIECE_CHARS);
    rest = rest.slice(text.length);
    frames.push({ type, contentIndex, text, isLast: rest === '' });
  } while (rest !== '');
  return frames;
}

function short(text: string | undefined): string | undefined {
  return text === undefined ? undefined : previewText(text, 200);
}

function withoutAbsent<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const present = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(present) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
