import type { CanonicalBody } from '../../../contract/canonical.ts';
import type { NativeFrame } from '../../../contract/frames.ts';
import { stateful, type Emission, type TranslateFrame } from '../../../contract/translation.ts';
import { childSeen, childTurnEnded } from './children.ts';
import { Delta, ErrorMessage, Kept, Plan, Scope, TurnDiff, TurnMessage } from './codex-schema.ts';
import { faultText } from '../fault-text.ts';
import { changesOfDiff, isSaid } from './file-changes.ts';
import { approvalAsked, itemCompleted, itemProgressed, itemStarted } from './items.ts';
import { noticeOf } from './notices.ts';
import { whyQuiet } from './quiet-frames.ts';
import { cutOffTexts, textDelta } from './text-items.ts';
import { metadataOf, settingsUpdated, threadOpened, threadStarted, usageUpdated } from './thread-facts.ts';
import { INITIAL_CODEX_STATE, quiet, saying, type CodexState, type Speaker, type Step } from './translation-state.ts';

/**
 * The dialect of `codex app-server`: its messages as `WireFrame`s.
 *
 * **Contract:** total over the protocol's notifications that a turn can bring; one that is unknown or unreadable gives
 * `undefined`. What a sub-agent's thread says carries that thread's id and its parent's. Nothing is said of a turn after its end.
 */
export const translateCodexFrame: TranslateFrame = stateful(INITIAL_CODEX_STATE, (state, frame) => {
  const why = whyQuiet(frame.type, frame['dir']);
  const step = why === null ? translate(state, frame) : quiet(state, why);
  return { state: step.state, said: step.said };
});

function translate(state: CodexState, frame: NativeFrame): Step {
  if (frame['_truncated'] === true) {
    const message = 'a message of the engine was too large to be stored';
    return saying(state, [{ kind: 'harness.warning', message, rawEventType: frame.type }]);
  }
  const scope = Scope.safeParse(frame['params'] ?? {}).data;
  const threadId = scope?.threadId ?? state.threadId ?? '';
  const isChild = state.threadId !== null && threadId !== state.threadId;
  const speaker: Speaker = { threadId, isChild };
  const isLate = state.endedTurnId !== null && scope?.turnId === state.endedTurnId;
  if (isLate && !isChild) return quiet(state, 'late: its turn has ended');
  if (!isChild) return translateOf(state, frame, speaker);
  const seen = childSeen(state, threadId);
  const step = translateOf(seen.state, frame, speaker);
  if (step.said === undefined) return step;
  const emissions = Array.isArray(step.said) ? (step.said as readonly Emission[]) : [];
  const said = [
    ...seen.bodies.map((body): Emission => ({ body })),
    ...emissions.map((one) => ofChild(one, state, threadId)),
  ];
  return { state: step.state, said: said.length > 0 ? said : step.said };
}

/** The lifecycle of a sub-agent is its parent's to tell; what it does is its own. */
function ofChild(emission: Emission, state: CodexState, childId: string): Emission {
  if (emission.body.kind.startsWith('child.')) return emission;
  const parent = state.threadId === null ? {} : { nativeParentSessionId: state.threadId };
  return { ...emission, native: { ...emission.native, nativeSessionId: childId, ...parent } };
}

function translateOf(state: CodexState, frame: NativeFrame, speaker: Speaker): Step {
  const kept = Kept.catch({}).parse(frame['kept'] ?? {});
  switch (frame.type) {
    case 'thread/start:result':
    case 'thread/resume:result':
      return threadOpened(state, frame);
    case 'thread/start:error':
    case 'turn/start:error':
      return quiet(state, 'the run ends with it');
    case 'thread/started':
      return threadStarted(state, frame);
    case 'thread/settings/updated':
      return settingsUpdated(state, frame, speaker);
    case 'thread/tokenUsage/updated':
      return usageUpdated(state, frame, speaker);
    case 'turn/started':
      return turnStarted(state, frame, speaker);
    case 'turn/completed':
      return turnCompleted(state, frame, speaker);
    case 'turn/plan/updated':
      return planUpdated(state, frame, speaker);
    case 'turn/diff/updated':
      return diffUpdated(state, frame);
    case 'error':
      return failed(state, frame, speaker);
    case 'item/started':
      return itemStarted(state, frame, speaker);
    case 'item/completed':
      return itemCompleted(state, frame, { speaker, kept });
    case 'item/agentMessage/delta':
    case 'item/plan/delta':
    case 'item/reasoning/summaryTextDelta':
    case 'item/reasoning/textDelta':
      return delta(state, frame, speaker);
    case 'item/reasoning/summaryPartAdded':
      return quiet(state, 'a part begins with its first piece');
    case 'item/commandExecution/outputDelta':
    case 'item/fileChange/patchUpdated':
    case 'item/mcpToolCall/progress':
      return itemProgressed(state, frame);
    case 'item/commandExecution/requestApproval':
    case 'item/fileChange/requestApproval':
      return approvalAsked(state, frame);
    default: {
      const bodies = noticeOf(frame) ?? metadataOf(frame, speaker);
      return bodies === null ? { state, said: undefined } : saying(state, bodies, 'nothing that a reader is to see');
    }
  }
}

function delta(state: CodexState, frame: NativeFrame, speaker: Speaker): Step {
  const parsed = Delta.safeParse(frame['params']);
  if (!parsed.success) return { state, said: undefined };
  const { itemId, delta: text, summaryIndex: part } = parsed.data;
  const kind = frame.type.startsWith('item/reasoning/') ? 'reasoning' : 'message';
  return textDelta(state, { itemId, text, kind, source: frame.type, part }, speaker);
}

function turnStarted(state: CodexState, frame: NativeFrame, { isChild, threadId }: Speaker): Step {
  const parsed = TurnMessage.safeParse(frame['params']);
  if (!parsed.success) return { state, said: undefined };
  if (isChild) return saying(state, [{ kind: 'child.updated', childId: threadId, status: 'running' }]);
  const { turn } = parsed.data;
  const next = { ...state, threadId, turnId: turn.id, usedBefore: null, changedPaths: [] };
  return quiet(next, 'the platform says that a turn began');
}

function turnCompleted(state: CodexState, frame: NativeFrame, { isChild, threadId }: Speaker): Step {
  const parsed = TurnMessage.safeParse(frame['params']);
  if (!parsed.success) return { state, said: undefined };
  const { state: closed, bodies } = cutOffTexts(state, threadId);
  if (isChild) return saying(closed, [...bodies, childTurnEnded(state, parsed.data)]);
  const next = { ...closed, turnId: null, endedTurnId: parsed.data.turn.id, changedPaths: [] };
  return saying(next, bodies, 'the platform says that the turn ended');
}

/** What failed and is tried again is a warning; what ends the turn is said with its end. */
function failed(state: CodexState, frame: NativeFrame, { threadId }: Speaker): Step {
  const parsed = ErrorMessage.safeParse(frame['params']);
  if (!parsed.success) return { state, said: undefined };
  if (!parsed.data.willRetry) return quiet(state, 'the turn ends with it');
  const { state: next, bodies } = cutOffTexts(state, threadId);
  const message = faultText(parsed.data.error.message || 'the model is asked again');
  return saying(next, [...bodies, { kind: 'harness.warning', message, rawEventType: frame.type, code: 'model_retry' }]);
}

type PlanEntry = CanonicalBody<'plan.updated'>['entries'][number];
const PLAN_STATUSES: Readonly<Record<string, PlanEntry['status']>> = {
  inProgress: 'in_progress',
  completed: 'completed',
};

/** A plan has no ids: an entry's is its place and its text. */
function planUpdated(state: CodexState, frame: NativeFrame, { isChild }: Speaker): Step {
  const parsed = Plan.safeParse(frame['params']);
  if (!parsed.success) return { state, said: undefined };
  if (isChild) return quiet(state, 'the plan of a sub-agent');
  const entries = parsed.data.plan.flatMap(({ step: text, status }, index): PlanEntry[] => {
    return text === '' ? [] : [{ id: `${String(index)}-${text}`, text, status: PLAN_STATUSES[status] ?? 'pending' }];
  });
  return saying(state, entries.length === 0 ? [] : [{ kind: 'plan.updated', entries }], 'a plan without entries');
}

/** The whole of a turn's changes: only what no item had said. */
function diffUpdated(state: CodexState, frame: NativeFrame): Step {
  const parsed = TurnDiff.safeParse(frame['params']);
  if (!parsed.success) return { state, said: undefined };
  const changes = changesOfDiff(parsed.data.diff).filter(({ path }) => !isSaid(state.changedPaths, path));
  const changedPaths = [...state.changedPaths, ...changes.map(({ path }) => path)];
  return saying({ ...state, changedPaths }, changes, 'its changes were said one by one');
}
