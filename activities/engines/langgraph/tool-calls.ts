import { z } from 'zod';
import type { NativeFrame } from '../../../contract/frames.ts';
import { parseJsonObject } from '../../../contract/json-object.ts';
import { previewText } from '../../../contract/frames.ts';
import { PREVIEW_LIMIT_CHARS } from '../../../contract/platform-frames.ts';
import { entryOf } from '../bounded-table.ts';
import { keptOutput } from '../hosted/kept-output.ts';
import { beginCall, endCall, hasEnded, type CallEnd } from '../hosted/open-calls.ts';
import { shownValue, textOf, thrownText } from '../hosted/shown-value.ts';
import { childAtWork, childrenOfCallEnded } from './children.ts';
import { messageOf, type LcMessage } from './lc-messages.ts';
import type { Scribe } from './scribe.ts';
import type { Speaker } from './speakers.ts';

/** What a tool returns beside a message: a change of the graph's state that holds it. */
const Command = z.object({ update: z.object({ messages: z.array(z.unknown()) }) });
/** Tools of deepagents tell of a failure in words. */
const TOLD_FAILURE = /^Error\b/;

export function callBegins(
  scribe: Scribe,
  speaker: Speaker,
  { id, name, input }: { id: string; name: string; input: unknown },
): void {
  const known = entryOf(scribe.state.calls.open, id);
  const read = typeof input === 'string' ? (parseJsonObject(input) ?? input) : input;
  const call = { id, name, input: read, speaker: speaker.child };
  const { calls, bodies } = beginCall(scribe.state.calls, call);
  scribe.remember({ calls });
  scribe.say(speaker, ...bodies);
  if (known === undefined) childAtWork(scribe, speaker, name);
}

export function callProgresses(scribe: Scribe, speaker: Speaker, { id, data }: { id: string; data: unknown }): void {
  const preview = shownValue(data);
  const known = entryOf(scribe.state.calls.open, id);
  if (known === undefined || preview === '') return;
  const { calls, open, bodies } = beginCall(scribe.state.calls, { id, name: known.started.name });
  scribe.remember({ calls });
  scribe.say(speaker, ...bodies);
  scribe.say(speaker, { kind: 'tool.progress', toolCallId: open.shownId, preview });
}

export function callReturned(
  scribe: Scribe,
  speaker: Speaker,
  { id, name, output, frame }: { id: string; name: string; output: unknown; frame: NativeFrame },
): void {
  if (hasEnded(scribe.state.calls, id)) return;
  if (entryOf(scribe.state.calls.open, id) === undefined) callBegins(scribe, speaker, { id, name, input: undefined });
  const message = resultIn(output, id);
  callEnds(scribe, speaker, id, message === null ? endWith(output, frame) : endOfMessage(message, frame));
}

export function callFailed(
  scribe: Scribe,
  speaker: Speaker,
  { id, name, error }: { id: string; name: string; error: unknown },
): void {
  const text = previewText(thrownText(error), PREVIEW_LIMIT_CHARS);
  // an error whose words were lost on its way leaves the end to the result in the conversation
  if (hasEnded(scribe.state.calls, id) || text === '' || text === '{}') return;
  if (entryOf(scribe.state.calls.open, id) === undefined) callBegins(scribe, speaker, { id, name, input: undefined });
  callEnds(scribe, speaker, id, { status: 'error', error: text });
}

/** The result in the conversation: the only word of a call that was refused, or whose tool is not there. */
export function resultWritten(scribe: Scribe, speaker: Speaker, message: LcMessage, frame: NativeFrame): void {
  if (entryOf(scribe.state.calls.open, message.toolCallId) === undefined) return;
  callEnds(scribe, speaker, message.toolCallId, endOfMessage(message, frame));
}

/** A call's end, and that of its sub-agent before it. */
function callEnds(scribe: Scribe, speaker: Speaker, id: string, end: CallEnd): void {
  const output = end.status === 'ok' ? end.output : end.error;
  childrenOfCallEnded(scribe, id, { status: end.status, output });
  const { calls, bodies } = endCall(scribe.state.calls, id, end);
  scribe.remember({ calls });
  scribe.say(speaker, ...bodies);
}

function endOfMessage({ content, isError }: LcMessage, frame: NativeFrame): CallEnd {
  if (!isError) return endWith(content, frame);
  return { status: 'error', error: shownValue(content) || 'the tool failed', nativeStatus: 'error' };
}

function endWith(output: unknown, frame: NativeFrame): CallEnd {
  const text = textOf(output);
  if (TOLD_FAILURE.test(text)) return { status: 'error', error: shownValue(text) };
  return { status: 'ok', output: text, kept: keptOutput(frame) };
}

/** The message of a call in what its tool returned; null where it returned something else. */
function resultIn(output: unknown, id: string): LcMessage | null {
  const listed = Command.safeParse(output).data?.update.messages ?? [output];
  const messages = listed.map(messageOf).filter((message) => message?.kind === 'tool');
  return messages.find((message) => message?.toolCallId === id) ?? messages[0] ?? null;
}
