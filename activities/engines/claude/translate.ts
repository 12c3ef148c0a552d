import type { NativeFrame } from '../../../contract/frames.ts';
import { stateful, type Emission, type TranslateFrame } from '../../../contract/translation.ts';
import { childSpeaks, taskEnded, taskProgressed, taskStarted, taskUpdated } from './children.ts';
import { Kept, Scope } from './claude-schema.ts';
import { answerTold, messageStreamed, toolsEnded } from './conversation.ts';
import { noticeOf } from './notices.ts';
import { permissionAsked, resultTold, toolAtWork, commandPrinted } from './rounds.ts';
import { whyQuiet } from './quiet-frames.ts';
import { commandsChanged, initialized, roundBegun, statusChanged } from './session-facts.ts';
import { INITIAL_CLAUDE_STATE, quiet, saying, type ClaudeState, type Speaker, type Step } from './translation-state.ts';

/**
 * The dialect of Claude Code's stream-json: its messages as `ClaudeFrames` makes them.
 *
 * **Contract:** total over the messages that a turn can bring; one that is unknown or unreadable gives `undefined`. What a
 * sub-agent says carries the call that launched it, and the session as its parent. A prompt may take several rounds, each with a
 * result of its own: they are one turn.
 */
export const translateClaudeFrame: TranslateFrame = stateful(INITIAL_CLAUDE_STATE, (state, frame) => {
  const why = whyQuiet(frame.type, frame['dir']);
  const step = why === null ? translate(state, frame) : quiet(state, why);
  return { state: step.state, said: step.said };
});

function translate(state: ClaudeState, frame: NativeFrame): Step {
  if (frame['_truncated'] === true) {
    const message = 'a message of the engine was too large to be stored';
    return saying(state, [{ kind: 'harness.warning', message, rawEventType: frame.type }]);
  }
  const scope = Scope.safeParse(frame['params']).data;
  const childId = scope?.parent_tool_use_id ?? null;
  if (scope === undefined || childId === null) return translateOf(state, frame, { childId: null });
  const seen = childSpeaks(state, childId, scope);
  const step = translateOf(seen.state, frame, { childId });
  if (step.said === undefined) return step;
  const emissions = Array.isArray(step.said) ? (step.said as readonly Emission[]) : [];
  const said = [
    ...seen.bodies.map((body): Emission => ({ body })),
    ...emissions.map((one) => ofChild(one, state, childId)),
  ];
  return { state: step.state, said: said.length > 0 ? said : step.said };
}

/** The lifecycle of a sub-agent is its parent's to tell; what it does is its own. */
function ofChild(emission: Emission, state: ClaudeState, childId: string): Emission {
  if (emission.body.kind.startsWith('child.')) return emission;
  const parent = state.sessionId ?? 'session';
  return { ...emission, native: { ...emission.native, nativeSessionId: childId, nativeParentSessionId: parent } };
}

function translateOf(state: ClaudeState, frame: NativeFrame, speaker: Speaker): Step {
  const params = frame['params'];
  if (frame.type.startsWith('result')) return resultTold(state, params);
  switch (frame.type) {
    case 'control_response/initialize':
      return initialized(state, params);
    case 'control_request/can_use_tool':
      return permissionAsked(state, params);
    case 'control_request/elicitation':
      return quiet(state, 'the platform asks');
    case 'system/init':
      return roundBegun(state, params);
    case 'system/status':
      return statusChanged(state, params);
    case 'system/commands_changed':
      return commandsChanged(state, params);
    case 'system/task_started':
      return taskStarted(state, params);
    case 'system/task_progress':
      return taskProgressed(state, params);
    case 'system/task_updated':
      return taskUpdated(state, params);
    case 'system/task_notification':
      return taskEnded(state, params);
    case 'system/local_command_output':
      return commandPrinted(state, params);
    case 'assistant':
      return answerTold(state, params, speaker);
    case 'user':
      return toolsEnded(state, params, Kept.catch({}).parse(frame['kept'] ?? {}));
    case 'tool_progress':
      return toolAtWork(state, params);
    case 'stream_event/message_start':
    case 'stream_event/message_delta':
    case 'stream_event/message_stop':
    case 'stream_event/content_block_start':
    case 'stream_event/content_block_delta':
    case 'stream_event/content_block_stop':
    case 'stream_event/error':
      return messageStreamed(state, params, speaker);
    default: {
      const bodies = noticeOf(frame);
      return bodies === null ? { state, said: undefined } : saying(state, bodies, 'nothing that a reader is to see');
    }
  }
}
