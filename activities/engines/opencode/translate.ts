import type { CanonicalBody } from '../../../contract/canonical.ts';
import type { NativeFrame } from '../../../contract/frames.ts';
import { stateful, type Emission, type TranslateFrame } from '../../../contract/translation.ts';
import { entryOf } from '../bounded-table.ts';
import { faultText } from '../fault-text.ts';
import { childBegun, childBusy, childEnded, childFailed, childSeen } from './children.ts';
import { noteChanged, turnChanges, unsaidChanges, withChanges } from './file-changes.ts';
import { noticeOf } from './notices.ts';
import {
  FileEdited,
  Kept,
  MessageUpdate,
  PartDelta,
  PartUpdate,
  PermissionAsked,
  Scope,
  SessionError,
  SessionMessage,
  SessionStatus,
} from './opencode-schema.ts';
import { whyQuiet, whyQuietPart } from './quiet-frames.ts';
import { commandsListed, modelCallEnded, modeOf, planUpdated, sessionOpened, sessionUpdated } from './session-facts.ts';
import { closeTexts, textDelta, textUpdated } from './texts.ts';
import { permissionAsked, toolPrinted, toolUpdated } from './tools.ts';
import {
  INITIAL_OPENCODE_STATE,
  quiet,
  saying,
  TABLE_LIMITS,
  unknown,
  withLast,
  type OpencodeState,
  type Speaker,
  type Step,
} from './translation-state.ts';

/**
 * The dialect of `opencode serve`: its events, and what it answers, as `WireFrame`s.
 *
 * **Contract:** total over the events that a turn can bring; one that is unknown or unreadable gives `undefined`. What a
 * sub-agent's session says carries that session's id and its parent's. The end of the turn is the platform's to say.
 */
export const translateOpencodeFrame: TranslateFrame = stateful(INITIAL_OPENCODE_STATE, (state, frame) => {
  const why = whyQuiet(frame.type, frame['dir']);
  const step = why === null ? translate(state, frame) : quiet(state, why);
  return { state: step.state, said: step.said };
});

function translate(state: OpencodeState, frame: NativeFrame): Step {
  if (frame['_truncated'] === true) {
    const message = 'an event of the engine was too large to be stored';
    return saying(state, [{ kind: 'harness.warning', message, rawEventType: frame.type }]);
  }
  const sessionId = Scope.safeParse(frame['params'] ?? {}).data?.sessionID;
  if (sessionId == null) return translateUnscoped(state, frame);
  if (frame.type === 'session.created') return sessionCreated(state, frame);
  const child = entryOf(state.children, sessionId);
  if (child === undefined) {
    const isOwn = state.sessionId === null || state.sessionId === sessionId;
    if (!isOwn) return quiet(state, 'of a session that is not of this run');
    return translateOf(state, frame, { sessionId, isChild: false });
  }
  return translateChild(state, frame, { childId: sessionId, parentId: child.parentId });
}

function translateChild(
  state: OpencodeState,
  frame: NativeFrame,
  { childId, parentId }: { childId: string; parentId: string },
): Step {
  const seen = SPEAKING.has(frame.type) ? childSeen(state, childId) : { state, bodies: [] };
  const step = translateOf(seen.state, frame, { sessionId: childId, isChild: true });
  if (step.said === undefined) return step;
  const emissions = Array.isArray(step.said) ? (step.said as readonly Emission[]) : [];
  const said = [
    ...seen.bodies.map((body): Emission => ({ body })),
    ...emissions.map((emission) => ofChild(emission, childId, parentId)),
  ];
  return { state: step.state, said: said.length > 0 ? said : step.said };
}

/** What a sub-agent only says when it works. */
const SPEAKING: ReadonlySet<string> = new Set(['message.part.updated', 'message.part.delta', 'permission.asked']);

/** The lifecycle of a sub-agent is its parent's to tell; what it does is its own. */
function ofChild(emission: Emission, nativeSessionId: string, nativeParentSessionId: string): Emission {
  if (emission.body.kind.startsWith('child.')) return emission;
  return { ...emission, native: { ...emission.native, nativeSessionId, nativeParentSessionId } };
}

function translateUnscoped(state: OpencodeState, frame: NativeFrame): Step {
  switch (frame.type) {
    case 'POST /session:result':
    case 'GET /session/*:result':
      return sessionOpened(state, frame);
    case 'GET /command:result':
      return commandsListed(state, frame);
    case 'file.edited': {
      const file = FileEdited.safeParse(frame['params']).data?.file;
      if (file === undefined) return unknown(state);
      return quiet(noteChanged(state, [file], { isTold: false }), 'the tool that changed the file says it');
    }
    case 'session.error': {
      const error = SessionError.safeParse(frame['params']).data?.error;
      const message = faultText(error?.data?.message ?? error?.name);
      return saying(state, [{ kind: 'harness.warning', message, rawEventType: frame.type }]);
    }
    default:
      return noticed(state, frame);
  }
}

function translateOf(state: OpencodeState, frame: NativeFrame, speaker: Speaker): Step {
  switch (frame.type) {
    case 'session.updated': {
      const session = SessionMessage.safeParse(frame['params']).data?.info;
      return session === undefined ? unknown(state) : sessionUpdated(state, session, speaker);
    }
    case 'session.status':
      return statusChanged(state, frame, speaker);
    case 'session.idle':
      return sessionIdle(state, speaker);
    case 'session.error':
      return sessionFailed(state, frame, speaker);
    case 'session.compacted':
      return saying(state, [
        {
          kind: 'context.marker',
          markerType: 'memory',
          title: 'the conversation was compacted',
          sourceEventType: frame.type,
        },
      ]);
    case 'message.updated':
      return messageUpdated(state, frame, speaker);
    case 'message.part.updated':
      return partUpdated(state, frame, speaker);
    case 'message.part.delta':
      return partDelta(state, frame, speaker);
    case 'permission.asked': {
      const asked = PermissionAsked.safeParse(frame['params']).data;
      return asked === undefined ? unknown(state) : permissionAsked(state, asked);
    }
    case 'todo.updated':
      return planUpdated(state, frame);
    default:
      return noticed(state, frame);
  }
}

/** Of a session that is begun in another one a sub-agent works; any other is the run's own. */
function sessionCreated(state: OpencodeState, frame: NativeFrame): Step {
  const session = SessionMessage.safeParse(frame['params']).data?.info;
  if (session === undefined) return unknown(state);
  const { id, parentID, directory } = session;
  const isOwn = state.sessionId === null || state.sessionId === id;
  if (isOwn && parentID == null) {
    const next = { ...state, sessionId: id, directory: directory ?? state.directory };
    return quiet(next, 'the platform says that a session began');
  }
  const isParentKnown = parentID === state.sessionId || entryOf(state.children, parentID ?? '') !== undefined;
  if (parentID == null || !isParentKnown) return quiet(state, 'of a session that is not of this run');
  return quiet(childBegun(state, session, parentID), 'a sub-agent is said with its launch');
}

function statusChanged(state: OpencodeState, frame: NativeFrame, { sessionId, isChild }: Speaker): Step {
  const status = SessionStatus.safeParse(frame['params']).data?.status;
  if (status === undefined) return unknown(state);
  if (status.type !== 'retry') {
    const next = isChild && status.type === 'busy' ? childBusy(state, sessionId) : state;
    return quiet(next, 'what the session does says it');
  }
  const { state: next, bodies } = closeTexts(state, sessionId);
  const message = faultText(status.message || 'the model is asked again');
  const warning: CanonicalBody = { kind: 'harness.warning', message, rawEventType: frame.type, code: 'model_retry' };
  return saying(next, [...bodies, warning]);
}

function sessionIdle(state: OpencodeState, { sessionId, isChild }: Speaker): Step {
  const { state: closed, bodies } = closeTexts(state, sessionId);
  if (isChild) {
    const ended = childEnded(closed, sessionId);
    return saying(ended.state, [...bodies, ...ended.bodies], { why: 'its end was said' });
  }
  const changes = unsaidChanges(closed);
  const why = 'the platform says that the turn ended';
  return saying(withChanges(closed, changes), [...bodies, ...changes], { why });
}

function sessionFailed(state: OpencodeState, frame: NativeFrame, { sessionId, isChild }: Speaker): Step {
  const parsed = SessionError.safeParse(frame['params']);
  if (!parsed.success) return unknown(state);
  const { error } = parsed.data;
  if (!isChild) return quiet(state, 'the turn ends with it');
  return quiet(childFailed(state, sessionId, error?.data?.message ?? error?.name ?? ''), 'the sub-agent ends with it');
}

function messageUpdated(state: OpencodeState, frame: NativeFrame, { isChild }: Speaker): Step {
  const message = MessageUpdate.safeParse(frame['params']).data?.info;
  if (message === undefined) return unknown(state);
  const { id, role, summary } = message;
  const isShown = role === 'assistant' && summary !== true;
  const unshownMessages = withLast(state.unshownMessages, id, TABLE_LIMITS.messages);
  const next = isShown ? state : { ...state, unshownMessages };
  if (role !== 'assistant') {
    const diffs = typeof summary === 'object' && summary !== null && !isChild ? summary.diffs : [];
    return turnChanges(next, diffs, keptIn(frame));
  }
  if (isChild) return quiet(next, 'its parts say what it says');
  const mode = modeOf(next, message);
  return saying(mode.state, mode.bodies, { why: 'its parts say what it says' });
}

function partUpdated(state: OpencodeState, frame: NativeFrame, speaker: Speaker): Step {
  const part = PartUpdate.safeParse(frame['params']).data?.part;
  if (part === undefined) return unknown(state);
  const why = whyQuietPart(part.type);
  if (why !== null) return quiet(state, why);
  switch (part.type) {
    case 'tool':
      return toolUpdated(state, part, keptIn(frame));
    case 'step-finish':
      return modelCallEnded(state, part, speaker);
    case 'patch':
      return quiet(noteChanged(state, part.files, { isTold: true }), 'the tool that changed the files says it');
    case 'text':
    case 'reasoning':
      if (state.unshownMessages.includes(part.messageID)) return quiet(state, 'what the agent was told');
      return textUpdated(state, part, speaker);
    case 'file':
      return state.unshownMessages.includes(part.messageID) ? quiet(state, 'what the agent was told') : unknown(state);
    default:
      return unknown(state);
  }
}

function partDelta(state: OpencodeState, frame: NativeFrame, speaker: Speaker): Step {
  const delta = PartDelta.safeParse(frame['params']).data;
  if (delta === undefined) return unknown(state);
  if (delta.field === 'output') return toolPrinted(state, delta);
  if (delta.field !== 'text') return quiet(state, 'the part itself says it');
  if (state.unshownMessages.includes(delta.messageID)) return quiet(state, 'what the agent is to remember');
  return textDelta(state, delta, speaker);
}

function noticed(state: OpencodeState, frame: NativeFrame): Step {
  const bodies = noticeOf(frame);
  return bodies === null ? unknown(state) : saying(state, bodies, { why: 'nothing that a reader is to see' });
}

function keptIn(frame: NativeFrame): Kept {
  return Kept.catch({}).parse(frame['kept'] ?? {});
}
