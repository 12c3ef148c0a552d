import type { CanonicalBody } from '../../../contract/canonical.ts';
import type { NativeFrame } from '../../../contract/frames.ts';
import { stateful, type FrameContext, type TranslateFrame } from '../../../contract/translation.ts';
import { faultText } from '../fault-text.ts';
import { attemptOf, callsIn } from '../hosted/open-calls.ts';
import { thrownText } from '../hosted/shown-value.ts';
import { cutOff } from './calls.ts';
import { fileMade, sourceNamed, steered } from './content-parts.ts';
import { StreamError } from './parts.ts';
import { decided, prompted } from './prompts.ts';
import { stepFinished, stepStarted } from './step-parts.ts';
import { textFinished, textPiece, textsOver, textStarted } from './text-parts.ts';
import { approvalRequested, toolCalled, toolDenied, toolFailed, toolReturned } from './tool-parts.ts';
import { INITIAL_AI_SDK_STATE, quiet, saying, unknown, type AiSdkState, type Step } from './translation-state.ts';

/**
 * The dialect of agents of the AI SDK: the parts of their `fullStream`, each in a frame of its type, and what they are sent.
 *
 * **Contract:** total over the parts of `ai` 5, 6 and 7; one that is unknown or unreadable gives `undefined`. A turn is any number of
 * streams: the one after an answer goes on with the tools of the one before. What the platform says of a turn, its begin, its
 * questions, its end, is not said here.
 */
export const translateAiSdkFrame: TranslateFrame = stateful(INITIAL_AI_SDK_STATE, (state, frame, context) => {
  const calls = callsIn(state.calls, attemptOf(context));
  const { state: next, said } = translate({ ...state, calls }, frame, context);
  return { state: next, said };
});

/** Parts that say nothing to a reader. */
const QUIET: Readonly<Record<string, string>> = {
  start: 'the platform says that a turn began',
  'tool-input-start': 'a tool call is said when its input is whole',
  'tool-input-delta': 'a tool call is said when its input is whole',
  'tool-input-end': 'a tool call is said when its input is whole',
  finish: 'the platform says that the turn ended',
  raw: 'what the provider sent, which its parts say',
  custom: 'what only its provider understands',
  ping: 'a sign of life',
  malformed: 'the run ends with it',
};

function translate(state: AiSdkState, frame: NativeFrame, { runId }: FrameContext): Step {
  if (frame['_truncated'] === true) {
    const message = 'a part of the agent was too large to be stored';
    return saying(state, [{ kind: 'harness.warning', message, rawEventType: frame.type }]);
  }
  if (frame['dir'] === 'send') return translateSent(state, frame);
  const { part } = frame;
  switch (frame.type) {
    case 'text-start':
      return textStarted(state, part, 'message');
    case 'text-delta':
      return textPiece(state, part, { kind: 'message', runId });
    case 'text-end':
      return textFinished(state, part, 'message');
    case 'reasoning-start':
      return textStarted(state, part, 'reasoning');
    case 'reasoning-delta':
      return textPiece(state, part, { kind: 'reasoning', runId });
    case 'reasoning-end':
      return textFinished(state, part, 'reasoning');
    case 'tool-call':
      return toolCalled(state, part);
    case 'tool-result':
      return toolReturned(state, frame);
    case 'tool-error':
      return toolFailed(state, part);
    case 'tool-output-denied':
      return toolDenied(state, part);
    case 'tool-approval-request':
      return approvalRequested(state, part);
    case 'tool-approval-response':
      return decided(state, part);
    case 'start-step':
      return stepStarted(state, part);
    case 'finish-step':
      return stepFinished(state, part);
    case 'source':
      return sourceNamed(state, part);
    case 'file':
    case 'reasoning-file':
      return fileMade(state, frame);
    case 'steering-message':
      return steered(state, part);
    case 'error':
      return failed(state, part);
    case 'abort':
      return ended({ ...state, isCancelled: true }, 'the platform says that the turn was cancelled');
    case 'throw':
      return ended(
        { ...state, isCancelled: state.isCancelled || frame['name'] === 'AbortError' },
        'the run ends with it',
      );
    case 'end':
      return ended(state, 'the platform says that the turn ended');
    default: {
      const why = Object.hasOwn(QUIET, frame.type) ? QUIET[frame.type] : undefined;
      return why === undefined ? unknown(state) : quiet(state, why);
    }
  }
}

function translateSent(state: AiSdkState, frame: NativeFrame): Step {
  if (frame.type === 'prompt') return prompted(state, frame);
  if (frame.type !== 'cancel') return unknown(state);
  return quiet({ ...state, isCancelled: true }, 'the platform asked the agent to stop');
}

/** A fault in the stream: the agent may go on, and the platform says whether the run ends with it. */
function failed(state: AiSdkState, part: unknown): Step {
  const fault = StreamError.safeParse(part).data;
  if (fault === undefined) return unknown(state);
  const message = faultText(thrownText(fault.error));
  return saying(state, [{ kind: 'harness.error', message, fatal: false, code: 'model_error' }]);
}

/** A stream is over. Tools without a result wait for an answer, unless the run was asked to stop. */
function ended(state: AiSdkState, why: string): Step {
  const texts = textsOver(state);
  if (!state.isCancelled) return saying(texts.state, texts.bodies, why);
  const tools = cutOff(texts.state);
  const bodies: CanonicalBody[] = [...texts.bodies, ...tools.bodies];
  return saying(tools.state, bodies, why);
}
