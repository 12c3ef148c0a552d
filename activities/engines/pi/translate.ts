import type { NativeFrame } from '../../../contract/frames.ts';
import { stateful, type TranslateFrame } from '../../../contract/translation.ts';
import { extensionShown } from './extension-ui.ts';
import { messageEnded, messageStarted, messageUpdated } from './messages.ts';
import { whyQuiet } from './quiet-frames.ts';
import { factOf, responded } from './session-facts.ts';
import { closeBlocks } from './text-blocks.ts';
import { toolBegun, toolEnded, toolUpdated } from './tools.ts';
import { INITIAL_PI_STATE, quiet, saying, unread, type PiState, type Step } from './translation-state.ts';

/**
 * The dialect of `pi --mode rpc`, of 0.73 as of 1.6: its messages as `PiFrames` gives them.
 *
 * **Contract:** total over what a turn can bring; a frame that is unknown or unreadable gives `undefined`. A message that the model
 * begins anew, because a request failed, has ids of its own. Calls of a message that was cut off are closed with it.
 */
export const translatePiFrame: TranslateFrame = stateful(INITIAL_PI_STATE, translate);

function translate(state: PiState, frame: NativeFrame): Step {
  if (frame['_truncated'] === true) {
    const message = 'a message of the engine was too large to be stored';
    return saying(state, [{ kind: 'harness.warning', message, rawEventType: frame.type }]);
  }
  const why = whyQuiet(frame.type);
  if (why !== null) return quiet(state, why);
  if (frame['dir'] === 'send') return told(state, frame);
  switch (frame.type) {
    case 'agent_start': {
      const { state: closed, bodies } = closeBlocks(state);
      return saying({ ...closed, tools: {} }, bodies, 'the platform says that a turn began');
    }
    case 'message_start':
      return messageStarted(state, frame);
    case 'message_update':
      return messageUpdated(state, frame);
    case 'message_end':
      return messageEnded(state, frame);
    case 'tool_execution_start':
      return toolBegun(state, frame);
    case 'tool_execution_update':
      return toolUpdated(state, frame);
    case 'tool_execution_end':
      return toolEnded(state, frame);
    case 'response':
      return responded(state, frame);
    case 'extension_ui_request':
      return extensionShown(state, frame);
    default:
      return factOf(state, frame) ?? unread(state);
  }
}

function told(state: PiState, { type }: NativeFrame): Step {
  // of another process of before no message will come
  return quiet(type === 'prompt' ? { ...state, prompts: 1 } : state, 'what this side said');
}
