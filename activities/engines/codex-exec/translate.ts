import type { CanonicalBody } from '../../../contract/canonical.ts';
import { previewText, type NativeFrame } from '../../../contract/frames.ts';
import { stateful, type FrameContext, type TranslateFrame } from '../../../contract/translation.ts';
import { faultText } from '../fault-text.ts';
import { ErrorEvent, Invocation, ItemPiece, TurnCompleted } from './exec-schema.ts';
import { itemCompleted, itemProgressed, itemStarted, pieceOf } from './items.ts';
import { isRetry } from './retry.ts';
import { INITIAL_EXEC_STATE, quiet, saying, type ExecState, type Step } from './translation-state.ts';

/** What says nothing that a reader of a run is to see, and why. */
const QUIET: ReadonlyMap<string, string> = new Map([
  ['thread.started', 'the platform says that a session began'],
  ['turn.started', 'the platform says that a turn began'],
  ['turn.failed', 'the run ends with it'],
  ['malformed', 'the run ends with it'],
]);

/**
 * The dialect of `codex exec --json`: its events as `WireFrame`s, the fields of each as `params`.
 *
 * **Contract:** total over the events that a turn can bring; one that is unknown or unreadable gives `undefined`. The engine numbers
 * its items anew in each process, so the ids that are said have the run and the attempt before them.
 */
export const translateCodexExecFrame: TranslateFrame = stateful(INITIAL_EXEC_STATE, translate);

function translate(state: ExecState, frame: NativeFrame, context: FrameContext): Step {
  const why = QUIET.get(frame.type);
  if (why !== undefined) return quiet(state, why);
  switch (frame.type) {
    case 'exec':
      return invoked(state, frame);
    case 'item.started':
      return itemStarted(state, frame, context);
    case 'item.updated':
      return itemProgressed(state, frame, context);
    case 'item.text':
      return piece(state, frame, context);
    case 'item.completed':
      return itemCompleted(state, frame, context);
    case 'turn.completed':
      return used(state, frame);
    case 'error':
      return failed(state, frame);
    default:
      return { state, said: undefined };
  }
}

function invoked(state: ExecState, frame: NativeFrame): Step {
  const threadId = Invocation.safeParse(frame['params']).data?.threadId ?? null;
  // a thread that this run began is its own, also when another attempt takes it up
  const isEarlier = threadId !== null && (state.isEarlier ?? true);
  return quiet({ ...state, isEarlier }, 'what this side said');
}

function piece(state: ExecState, frame: NativeFrame, context: FrameContext): Step {
  const parsed = ItemPiece.safeParse(frame['params']);
  if (!parsed.success) return { state, said: undefined };
  const body = pieceOf(parsed.data.item, parsed.data.piece, context);
  return body === null ? { state, said: undefined } : saying(state, [body]);
}

/**
 * What the run took. The engine counts a thread through all of its turns: of one that is older than the run the count is of more than
 * the run, and is told as a fact of the session.
 */
function used(state: ExecState, frame: NativeFrame): Step {
  const parsed = TurnCompleted.safeParse(frame['params']);
  if (!parsed.success) return quiet(state, 'the platform says that the turn ended');
  const {
    input_tokens: inputTokens,
    cached_input_tokens: cachedInputTokens,
    output_tokens: outputTokens,
  } = parsed.data.usage;
  const tokens = { inputTokens, outputTokens, cachedInputTokens };
  const body: CanonicalBody =
    state.isEarlier === true
      ? { kind: 'session.metadata', metadata: { threadUsage: tokens } }
      : { kind: 'usage.updated', ...tokens };
  return saying(state, [body]);
}

const SHOWN_CHARS = 2_000;

/** What failed and is tried again is a warning, said once however often it comes; what ends the turn is said with its end. */
function failed(state: ExecState, frame: NativeFrame): Step {
  const parsed = ErrorEvent.safeParse(frame['params']);
  if (!parsed.success) return { state, said: undefined };
  if (!isRetry(parsed.data.message)) return quiet(state, 'the turn ends with it');
  const message = previewText(faultText(parsed.data.message), SHOWN_CHARS);
  if (message === state.lastRetry) return quiet(state, 'said just before');
  const said: CanonicalBody = { kind: 'harness.warning', message, rawEventType: frame.type, code: 'model_retry' };
  return saying({ ...state, lastRetry: message }, [said]);
}
