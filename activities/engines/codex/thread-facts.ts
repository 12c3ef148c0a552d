import { z } from 'zod';
import type { CanonicalBody } from '../../../contract/canonical.ts';
import { previewText, type NativeFrame } from '../../../contract/frames.ts';
import { childSeen } from './children.ts';
import { Settings, ThreadMessage, TokenUsage, type Tokens } from './codex-schema.ts';
import { quiet, saying, type CodexState, type Speaker, type Step } from './translation-state.ts';

const NAME_CHARS = 500;

const RateLimits = z.object({
  rateLimits: z.object({ primary: z.unknown().optional(), secondary: z.unknown() }),
});
const Name = z.object({ threadName: z.string().nullish() });
const Goal = z.object({ goal: z.record(z.string(), z.unknown()).nullish() });

/** The thread that was begun or taken up: the run's own from now on. */
export function threadOpened(state: CodexState, frame: NativeFrame): Step {
  const parsed = ThreadMessage.safeParse(frame['result']);
  if (!parsed.success) return { state, said: undefined };
  const { thread, model } = parsed.data;
  const next = { ...state, threadId: thread.id, turnId: null, usedBefore: null };
  return saying(next, model == null ? [] : [{ kind: 'mode.updated', model }], 'the platform says that a session began');
}

/** Of a thread that is not the run's own: a sub-agent begins. */
export function threadStarted(state: CodexState, frame: NativeFrame): Step {
  const parsed = ThreadMessage.safeParse(frame['params']);
  if (!parsed.success) return { state, said: undefined };
  const { id, parentThreadId } = parsed.data.thread;
  const isChild = parentThreadId != null || (state.threadId !== null && state.threadId !== id);
  if (!isChild) return quiet({ ...state, threadId: id }, 'the platform says that a session began');
  const { state: next, bodies } = childSeen(state, id);
  return saying(next, bodies, 'the sub-agent was said');
}

/**
 * What the run has used so far.
 *
 * **Contract:** the engine counts a thread through all of its turns and gives its last model call beside it; what the thread
 * had used before this turn is the difference at the turn's first count, and is taken off from then on. A sub-agent's count
 * stands in its own state, never in the run's.
 */
export function usageUpdated(state: CodexState, frame: NativeFrame, speaker: Speaker): Step {
  const parsed = TokenUsage.safeParse(frame['params']);
  if (!parsed.success) return { state, said: undefined };
  const { total, last } = parsed.data.tokenUsage;
  if (speaker.isChild) {
    const { inputTokens, cachedInputTokens, outputTokens } = total;
    const usage = { inputTokens, cachedInputTokens, outputTokens };
    return saying(state, [{ kind: 'child.updated', childId: speaker.threadId, status: 'running', state: { usage } }]);
  }
  if (state.turnId === null) return quiet(state, 'what an earlier turn used');
  const usedBefore = state.usedBefore ?? difference(total, last);
  return saying({ ...state, usedBefore }, [{ kind: 'usage.updated', ...difference(total, usedBefore) }]);
}

export function settingsUpdated(state: CodexState, frame: NativeFrame, { isChild }: Speaker): Step {
  const parsed = Settings.safeParse(frame['params']);
  if (!parsed.success) return { state, said: undefined };
  if (isChild) return quiet(state, 'the settings of a sub-agent');
  const { model, collaborationMode } = parsed.data.threadSettings;
  const mode = collaborationMode?.mode;
  const said = { ...(mode == null ? {} : { mode }), ...(model == null ? {} : { model }) };
  return saying(state, Object.keys(said).length === 0 ? [] : [{ kind: 'mode.updated', ...said }], 'other settings');
}

/** What the engine tells of a thread and its account that no kind of its own has. */
export function metadataOf(frame: NativeFrame, { isChild }: Speaker): CanonicalBody[] | null {
  switch (frame.type) {
    case 'thread/name/updated': {
      const title = Name.safeParse(frame['params']).data?.threadName;
      return isChild || title == null || title === '' ? [] : metadata({ title: previewText(title, NAME_CHARS) });
    }
    case 'account/rateLimits/updated': {
      const limits = RateLimits.safeParse(frame['params']).data?.rateLimits;
      if (limits === undefined || (limits.primary == null && limits.secondary == null)) return [];
      return metadata({ rateLimits: { primary: limits.primary, secondary: limits.secondary } });
    }
    case 'thread/goal/updated':
    case 'thread/goal/cleared':
      return isChild ? [] : metadata({ goal: Goal.safeParse(frame['params']).data?.goal ?? null });
    default:
      return null;
  }
}

function metadata(facts: Record<string, unknown>): CanonicalBody[] {
  return [{ kind: 'session.metadata', metadata: facts }];
}

/** Never below zero: a thread that was compacted may count anew. */
function difference(more: Tokens, less: Tokens): Tokens {
  return {
    inputTokens: Math.max(0, more.inputTokens - less.inputTokens),
    cachedInputTokens: Math.max(0, more.cachedInputTokens - less.cachedInputTokens),
    outputTokens: Math.max(0, more.outputTokens - less.outputTokens),
  };
}
