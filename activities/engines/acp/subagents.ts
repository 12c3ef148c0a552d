import { previewText } from '../../../contract/frames.ts';
import { PREVIEW_LIMIT_CHARS } from '../../../contract/platform-frames.ts';
import { ContentBlock, SessionLetter, SubagentUpdate } from './acp-schema.ts';
import { TABLE_LIMITS } from './acp-state.ts';
import { entryOf, withEntry } from '../bounded-table.ts';
import { rememberChild } from './child-tools.ts';
import type { Scribe } from './scribe.ts';
import { closeText } from './texts.ts';
import { blocksText } from './tool-output.ts';

/** A child session of ACP's unstable part: announced, then as it goes. One that has ended its work may be given more. */
export function saySubagent(scribe: Scribe, update: unknown): string {
  const parsed = SubagentUpdate.safeParse(update).data;
  if (parsed === undefined) return '';
  const { sessionId: childId, title, description, state } = parsed;
  const speaker = scribe.childSpeaker(childId);
  const known = entryOf(scribe.state.children, childId);
  const isWorking = state == null || state.state !== 'idle';
  if (known === undefined || (!known.isRunning && state != null && isWorking)) {
    const role = description == null ? {} : { state: { role: previewText(description, 500) } };
    scribe.say(speaker, {
      kind: 'child.started',
      childId,
      ...(title == null ? {} : { title: previewText(title, 500) }),
      ...role,
    });
  }
  rememberChild(scribe, childId, isWorking);
  if (state == null) return 'nothing new of a child';
  if (isWorking) {
    scribe.say(speaker, { kind: 'child.updated', childId, status: state.state });
  } else if (known?.isRunning !== false) {
    closeText(scribe, speaker);
    const isFailed = state.stopReason != null && state.stopReason !== 'end_turn';
    scribe.say(speaker, { kind: 'child.completed', childId, status: isFailed ? 'error' : 'ok' });
  }
  return 'nothing new of a child';
}

/** A message between sessions: shown as what its child was told or has told. */
export function sayLetter(scribe: Scribe, update: unknown): string {
  const parsed = SessionLetter.safeParse(update).data;
  if (parsed === undefined) return '';
  const { messageId, senderSessionId, recipientSessionId, content } = parsed;
  const { children, letters } = scribe.state;
  const isChild = (id: string | null | undefined): id is string => id != null && entryOf(children, id) !== undefined;
  const letter = isChild(senderSessionId)
    ? { childId: senderSessionId, isFromChild: true }
    : isChild(recipientSessionId)
      ? { childId: recipientSessionId, isFromChild: false }
      : entryOf(letters, messageId);
  if (letter === undefined) return 'a message between sessions that were not announced';
  scribe.remember({ letters: withEntry(letters, messageId, letter, TABLE_LIMITS.letters) });
  return sayLetterText(scribe, letter, blocksText(content) ?? '');
}

export function sayLetterChunk(scribe: Scribe, update: { readonly [field: string]: unknown }): string {
  const letter = entryOf(scribe.state.letters, String(update['messageId']));
  if (letter === undefined) return 'a piece of a message whose sender is not known';
  return sayLetterText(scribe, letter, ContentBlock.safeParse(update['content']).data?.text ?? '');
}

function sayLetterText(
  scribe: Scribe,
  { childId, isFromChild }: { readonly childId: string; readonly isFromChild: boolean },
  text: string,
): string {
  if (text === '') return 'a message without text';
  const preview = previewText(text, PREVIEW_LIMIT_CHARS);
  const state = isFromChild ? { summary: preview } : { prompt: preview };
  scribe.say(scribe.childSpeaker(childId), { kind: 'child.updated', childId, status: 'running', state });
  return '';
}
