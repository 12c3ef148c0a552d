import type { CanonicalBody } from '../../../contract/canonical.ts';
import { previewText } from '../../../contract/frames.ts';
import { entryOf, withEntry } from '../bounded-table.ts';
import { cutShort } from '../hosted/cut-short.ts';
import { hasEnded } from '../hosted/open-calls.ts';
import { textEnded, textGrown, type TextKind } from '../hosted/open-texts.ts';
import { withTokens, type Tokens } from '../hosted/tokens.ts';
import { childUsed } from './children.ts';
import type { LcMessage, ToolCall } from './lc-messages.ts';
import type { Scribe } from './scribe.ts';
import type { Speaker } from './speakers.ts';
import { callBegins } from './tool-calls.ts';
import { TABLE_LIMITS, type SeenMessage } from './translation-state.ts';

const UNSEEN: SeenMessage = { hasText: false, isCounted: false, isWhole: false };

/** A message that a model writes, and who says it. */
export interface Writing {
  readonly speaker: Speaker;
  readonly id: string;
}

/** A piece of a message. Where text begins, what was thought before it is over. */
export function pieceWritten(scribe: Scribe, writing: Writing, piece: Part & { readonly text: string }): void {
  const { kind, text } = piece;
  if (text === '' || seen(scribe, writing).isWhole) return;
  const { child } = writing.speaker;
  if (kind === 'message') textOver(scribe, writing, { ...piece, kind: 'reasoning' });
  const key = keyOf(writing, piece);
  const { runId } = scribe.context;
  const { texts, bodies } = textGrown(scribe.state.texts, {
    ...{ key, kind, text, runId },
    ...(child === null ? {} : { speaker: child }),
  });
  scribe.remember({ texts });
  scribe.say(writing.speaker, ...bodies);
  noted(scribe, writing, { hasText: true });
}

/** A text of a message, told from its others by `part`. */
interface Part {
  readonly kind: TextKind;
  readonly part?: string;
}

export function textOver(scribe: Scribe, writing: Writing, part: Part): void {
  const { texts, bodies } = textEnded(scribe.state.texts, keyOf(writing, part));
  scribe.remember({ texts });
  scribe.say(writing.speaker, ...bodies);
}

/** What the call of a model used; pieces of a message count each their own part. */
export function usageCounted(scribe: Scribe, writing: Writing, tokens: Tokens): void {
  const { speaker } = writing;
  noted(scribe, writing, { isCounted: true });
  if (speaker.child !== null) return childUsed(scribe, { ...speaker, child: speaker.child }, tokens);
  const used = withTokens(scribe.state.used, tokens);
  if (used === scribe.state.used) return;
  scribe.remember({ used });
  scribe.say(speaker, { kind: 'usage.updated', ...used });
}

export function modelNamed(scribe: Scribe, speaker: Speaker, model: string): void {
  if (speaker.child !== null || model === '' || model === scribe.state.model) return;
  scribe.remember({ model });
  scribe.say(speaker, { kind: 'mode.updated', model });
}

/**
 * A message that is whole.
 *
 * **Contract:** says what no piece of it had said, its text, its count, its calls, and says it once: of a message that comes
 * again only the input of calls is news, where a person has changed it.
 */
export function messageWhole(scribe: Scribe, writing: Writing, message: LcMessage): void {
  const { isWhole, hasText, isCounted } = seen(scribe, writing);
  if (!isWhole) {
    if (!hasText) {
      pieceWritten(scribe, writing, { kind: 'reasoning', text: message.reasoning });
      pieceWritten(scribe, writing, { kind: 'message', text: message.text });
    }
    textOver(scribe, writing, { kind: 'reasoning' });
    textOver(scribe, writing, { kind: 'message' });
    if (!isCounted && message.usage !== null) usageCounted(scribe, writing, message.usage);
    scribe.say(writing.speaker, ...cutShort(message.stopReason, 'message'), ...message.brokenCalls.map(brokenCall));
  }
  for (const call of message.toolCalls) callWritten(scribe, writing, call);
  noted(scribe, writing, { isWhole: true });
}

function brokenCall(name: string): CanonicalBody {
  const message = previewText(`the model called ${name} with an input that cannot be read`, 500);
  return { kind: 'harness.warning', message, rawEventType: 'message', code: 'invalid_tool_call' };
}

/** A call in a message: in one that comes again, only of a call that is open still. */
export function callWritten(scribe: Scribe, writing: Writing, { id, name, args }: ToolCall): void {
  if (seen(scribe, writing).isWhole && hasEnded(scribe.state.calls, id)) return;
  callBegins(scribe, writing.speaker, { id, name, input: args });
}

export function isOpen(scribe: Scribe, writing: Writing, part: Part): boolean {
  return entryOf(scribe.state.texts.open, keyOf(writing, part)) !== undefined;
}

export function noted(scribe: Scribe, writing: Writing, facts: Partial<SeenMessage>): void {
  const message = { ...seen(scribe, writing), ...facts };
  const messages = withEntry(scribe.state.messages, messageKey(writing), message, TABLE_LIMITS.messages);
  scribe.remember({ messages });
}

export function seen(scribe: Scribe, writing: Writing): SeenMessage {
  return entryOf(scribe.state.messages, messageKey(writing)) ?? UNSEEN;
}

function messageKey({ speaker, id }: Writing): string {
  return `${speaker.child ?? ''} ${id}`;
}

function keyOf(writing: Writing, { kind, part = '' }: Part): string {
  return `${kind} ${messageKey(writing)} ${part}`;
}
