import { z } from 'zod';
import { previewText, type NativeFrame } from '../../../contract/frames.ts';
import { PREVIEW_LIMIT_CHARS } from '../../../contract/platform-frames.ts';
import { stateful, type FrameContext, type Translated } from '../../../contract/translation.ts';
import { Kept, SessionUpdate } from './acp-schema.ts';
import { INITIAL_ACP_STATE, type AcpState } from './acp-state.ts';
import { entryOf } from '../bounded-table.ts';
import { METHODS, type WireParts } from './methods.ts';
import { Scribe, type Speaker } from './scribe.ts';
import { REPLAYED_UPDATES, SESSION_UPDATES } from './session-updates.ts';

const Wire = z.looseObject({ dir: z.enum(['recv', 'send']).catch('recv'), kept: z.unknown().optional() });

/**
 * The dialect of an Agent Client Protocol agent: the messages of one connection in both directions, as `WireFrames` makes them.
 *
 * **Contract:** pure and total: a frame of the protocol gives events or a reason, one that is malformed or was cut gives a
 * warning, a method that the protocol does not know is `undefined`. What the platform says itself is not said here: the turn's
 * beginning and end, what a person is asked and answers.
 */
export const translateAcpFrame = stateful(INITIAL_ACP_STATE, translate);

function translate(
  state: AcpState,
  raw: NativeFrame,
  context: FrameContext,
): { state: AcpState; said: Translated | undefined } {
  const scribe = new Scribe(state, context);
  const why = raw.type === 'session/update' ? sayUpdate(scribe, raw) : sayMessage(scribe, raw);
  if (why === undefined && scribe.said.length === 0) return { state, said: undefined };
  if (why === '' && scribe.said.length === 0) warn(scribe, raw, 'a frame is malformed');
  return { state: scribe.state, said: scribe.said.length > 0 ? scribe.said : { suppressed: why ?? '' } };
}

function sayUpdate(scribe: Scribe, raw: NativeFrame): string | undefined {
  if (raw['_truncated'] === true) return warn(scribe, raw, 'a frame was over the limit and was cut');
  const parsed = SessionUpdate.safeParse(raw['params']).data;
  if (parsed === undefined) return '';
  const { sessionId, update } = parsed;
  const kind = update.sessionUpdate;
  const say = SESSION_UPDATES.get(kind);
  if (say === undefined) {
    const isExtension = kind.startsWith('_');
    return isExtension
      ? 'an extension of the protocol'
      : warn(scribe, { type: `session/update:${kind}` }, 'native event without a mapping');
  }
  if (scribe.state.isReplaying && REPLAYED_UPDATES.has(kind)) return 'replay of an earlier turn';
  const speaker = speakerOf(scribe, sessionId ?? null);
  if (speaker === null) return 'of another session than the turn';
  return say(scribe, { update, speaker, kept: keptOf(raw) });
}

function sayMessage(scribe: Scribe, raw: NativeFrame): string | undefined {
  const say = METHODS.get(raw.type);
  const wire = partsOf(raw);
  if (say === undefined) return unlisted(scribe, raw, wire);
  // a method that changes what later frames mean does so even when its frame was cut
  const why = say(scribe, wire);
  return why === '' && raw['_truncated'] === true ? warn(scribe, raw, 'a frame was over the limit and was cut') : why;
}

/** Answers with an error, extensions, and what is no message of the protocol. */
function unlisted(scribe: Scribe, raw: NativeFrame, { dir, error }: WireParts): string | undefined {
  const { type } = raw;
  if (type.startsWith('_')) return 'an extension of the protocol';
  if (type === 'malformed') return warn(scribe, raw, 'the engine said what is no message of its protocol');
  if (type === 'unknown:result' || type === 'unknown:error')
    return warn(scribe, raw, 'an answer to what was not asked');
  const method = type.replace(/:error$/, '');
  if (method === type || !METHODS.has(method)) return undefined;
  if (dir === 'send') return 'we refused what the engine asked for';
  const message = z.looseObject({ message: z.string() }).safeParse(error).data?.message ?? 'refused';
  return warn(scribe, raw, previewText(`${method}: ${message}`, PREVIEW_LIMIT_CHARS));
}

/** A session that is neither the turn's nor a child's is nobody's. */
function speakerOf(scribe: Scribe, sessionId: string | null): Speaker | null {
  const { sessionId: own, children } = scribe.state;
  if (own === null && sessionId !== null) scribe.remember({ sessionId });
  if (sessionId === null || own === null || sessionId === own) return scribe.self;
  return entryOf(children, sessionId) === undefined ? null : scribe.childSpeaker(sessionId);
}

function partsOf(raw: NativeFrame): WireParts {
  const { id, params, result, error } = raw;
  return { id: JSON.stringify(id ?? null), dir: Wire.parse(raw).dir, params, result, error, kept: keptOf(raw) };
}

function keptOf(raw: NativeFrame): Kept {
  return Kept.safeParse(raw['kept']).data ?? {};
}

function warn(scribe: Scribe, { type }: NativeFrame, message: string): string {
  scribe.say(scribe.self, { kind: 'harness.warning', message, rawEventType: previewText(type, 200) });
  return '';
}
