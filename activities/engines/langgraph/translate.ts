import type { NativeFrame } from '../../../contract/frames.ts';
import { stateful, type TranslateFrame, type Translated } from '../../../contract/translation.ts';
import { attemptOf, callsCutOff, callsIn } from '../hosted/open-calls.ts';
import { textsEnded } from '../hosted/open-texts.ts';
import { childEnded, childSeen } from './children.ts';
import { translateCustom } from './custom-frames.ts';
import { translateMessages } from './message-frames.ts';
import { translateEvent } from './protocol-events.ts';
import { Scribe } from './scribe.ts';
import { namespaceOf, ROOT, speakerIn } from './speakers.ts';
import { toolEventOf, translateTools } from './tool-frames.ts';
import { INITIAL_LANGGRAPH_STATE } from './translation-state.ts';
import { translateUpdate } from './update-frames.ts';

/**
 * The dialect of LangGraph and deepagents: the chunks of their stream modes, or the events of their protocol, and what they are sent.
 *
 * **Contract:** total over the modes `updates`, `messages`, `tools`, `custom` and the protocol's channels; what is unknown or unreadable
 * gives `undefined`. A turn is any number of streams: the one after an answer goes on with the calls of the one before. What a
 * sub-agent says carries its namespace. What the platform says of a turn, its begin, its questions, its end, is not said here.
 */
export const translateLangGraphFrame: TranslateFrame = stateful(INITIAL_LANGGRAPH_STATE, (state, frame, context) => {
  const scribe = new Scribe({ ...state, calls: callsIn(state.calls, attemptOf(context)) }, context);
  const why = translate(scribe, frame);
  return { state: scribe.state, said: saidBy(scribe, why) };
});

/** Why nothing is said, for the case that nothing was; null for a frame that the dialect does not have. */
function translate(scribe: Scribe, frame: NativeFrame): string | null {
  if (frame['_truncated'] === true) {
    const message = 'a chunk of the agent was too large to be stored';
    scribe.say(ROOT, { kind: 'harness.warning', message, rawEventType: frame.type });
    return 'said';
  }
  if (frame['dir'] === 'send') return translateSent(scribe, frame);
  switch (frame.type) {
    case 'updates':
    case 'messages':
    case 'tools':
    case 'custom':
      return translateChunk(scribe, frame);
    case 'event':
      return translateEvent(scribe, frame);
    case 'values':
    case 'tasks':
    case 'checkpoints':
    case 'debug':
      return 'the whole state, whose changes are said';
    case 'malformed':
      return 'the run ends with it';
    case 'end':
      return ended(scribe, 'the platform says that the turn ended');
    case 'throw':
      scribe.remember({ isCancelled: scribe.state.isCancelled || frame['name'] === 'AbortError' });
      return ended(scribe, 'the run ends with it');
    default:
      return null;
  }
}

function translateChunk(scribe: Scribe, frame: NativeFrame): string | null {
  const speaker = speakerIn(namespaceOf(frame['namespace']));
  const { chunk } = frame;
  childSeen(scribe, speaker);
  switch (frame.type) {
    case 'messages':
      return translateMessages(scribe, speaker, frame);
    case 'tools': {
      const event = toolEventOf(chunk);
      return event === null ? null : translateTools(scribe, speaker, { event, frame });
    }
    case 'custom':
      return translateCustom(scribe, speaker, chunk);
    default: {
      if (typeof chunk !== 'object' || chunk === null) return null;
      const whys = Object.entries(chunk).map(([node, values]) =>
        translateUpdate(scribe, speaker, { node, values, frame }),
      );
      return whys.at(-1) ?? 'an update without a change';
    }
  }
}

function translateSent(scribe: Scribe, frame: NativeFrame): string | null {
  if (frame.type === 'cancel') {
    scribe.remember({ isCancelled: true });
    return 'the platform asked the agent to stop';
  }
  if (frame.type !== 'input') return null;
  textsOver(scribe);
  scribe.remember({ isAsking: false, isCancelled: false });
  return 'the platform says what is asked and what is answered';
}

/** A stream is over. Calls and sub-agents without a result wait for an answer, where one was asked for. */
function ended(scribe: Scribe, why: string): string {
  textsOver(scribe);
  const { isAsking, isCancelled, children } = scribe.state;
  if (isCancelled) {
    const attempt = attemptOf(scribe.context);
    for (const [child, { saidIn }] of children) {
      if (saidIn === attempt) childEnded(scribe, child, { status: 'error', output: 'cancelled' });
    }
    const { calls, cut } = callsCutOff(scribe.state.calls);
    scribe.remember({ calls });
    for (const { open, body } of cut) scribe.say({ child: open.speaker, parent: null }, body);
  } else if (!isAsking && why !== 'the run ends with it') {
    for (const [child] of children) childEnded(scribe, child, { status: 'ok', output: '' });
  }
  return why;
}

function textsOver(scribe: Scribe): void {
  const { texts, ended: over } = textsEnded(scribe.state.texts);
  scribe.remember({ texts });
  for (const { speaker: child, body } of over) scribe.say({ child, parent: null }, body);
}

function saidBy({ said }: Scribe, why: string | null): Translated | undefined {
  if (said.length > 0) return said;
  return why === null ? undefined : { suppressed: why };
}
