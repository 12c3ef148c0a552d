import { textOf, type AssistantMessage, type Message } from '../../contract/agent-messages.ts';
import { summaryMessage, type CompactionTrigger } from '../../contract/compaction.ts';
import { PLATFORM } from '../../contract/frames.ts';
import type { PlatformFrame } from '../../contract/platform-frames.ts';
import { saysNothing } from '../../contract/translation.ts';
import { crashPoint } from '../../infra/crash-point.ts';
import { commitCompaction, compactionOfStep } from '../../infra/postgres/compaction.ts';
import type { ConversationEntry } from '../../infra/postgres/conversation.ts';
import type { Dependencies } from '../dependencies.ts';
import { compactionSummary } from '../engines/builtin/compaction/compaction-summary.ts';
import { contextTokens, tokensOfMessage, tokensOfMessages } from '../engines/builtin/compaction/context-tokens.ts';
import type { ContextWindow } from '../engines/builtin/compaction/context-window.ts';
import { cutOf } from '../engines/builtin/compaction/cut.ts';
import { summaryRequest } from '../engines/builtin/compaction/summary-request.ts';
import { withVoice } from '../engines/builtin/extensions/run-voice.ts';
import { llmEnd } from '../engines/builtin/frames.ts';
import { askModel, isCancelled, type ModelStep } from './model-step.ts';
import { usageOfRun } from './total-usage.ts';

export interface CompactionWish {
  readonly entries: readonly ConversationEntry[];
  readonly trigger: CompactionTrigger;
  readonly guidance: string | null;
  readonly keepTokens: number;
  /** A turn over this is cut inside; not given: it is kept whole. */
  readonly turnTokens?: number;
  /** What is sent beside the conversation. */
  readonly besidesTokens: number;
}

export type Compacting =
  | { readonly outcome: 'compacted' }
  | { readonly outcome: 'too-little' }
  /** The model's summary was of no use. */
  | { readonly outcome: 'no-summary'; readonly reason: string }
  | { readonly outcome: 'failed'; readonly answer: AssistantMessage }
  | { readonly outcome: 'cancelled' };

/** So much of the newest messages is kept word for word, about (source facts C.8); less where the context is small. */
const KEEP_TOKENS = 20_000;

export function keepTokensOf({ compactOverTokens }: ContextWindow): number {
  return Math.min(KEEP_TOKENS, Math.floor(compactOverTokens / 4));
}

/** What of the room for a prompt the record takes: a second time less, when the provider finds it too long all the same. */
const SHARES = [0.8, 0.2];

/**
 * Replaces the older part of a conversation by a summary, which the step's model writes.
 *
 * **Contract:** the summary is installed in one transaction with the frames that say so, while the step is held, once a step; what ends
 * otherwise leaves the conversation as it was.
 */
export async function compactConversation(
  { pool }: Pick<Dependencies, 'pool'>,
  step: ModelStep,
  wish: CompactionWish,
): Promise<Compacting> {
  const { entries, trigger, guidance, keepTokens, turnTokens, besidesTokens } = wish;
  const messages = entries.map(({ message }) => message);
  const beginsWithSummary = entries[0]?.place === null;
  const at = cutOf(messages, { beginsWithSummary, keepTokens, ...(turnTokens === undefined ? {} : { turnTokens }) });
  const firstKept = at === null ? null : (entries[at]?.place ?? null);
  if (at === null || firstKept === null) return { outcome: 'too-little' };
  const [older, kept] = [messages.slice(0, at), messages.slice(at)];

  const answer = await summarize(step, older, guidance);
  if (isCancelled(step)) return { outcome: 'cancelled' };
  const summary = textOf(answer.content).trim();
  const reason = faultOf(answer, summary, older);
  if (reason !== null) {
    // what is not kept of a call is not counted either: the run's total would go back with the next one
    const { usage: _, ...uncounted } = answer;
    step.writer.emit(llmEnd(uncounted));
    await step.writer.drain();
    return answer.stopReason === 'error' ? { outcome: 'failed', answer } : { outcome: 'no-summary', reason };
  }

  const { run_id: runId } = step.run;
  const made = {
    runId,
    stepIndex: step.stepIndex,
    atMessageIndex: (entries.findLast(({ place }) => place?.runId === runId)?.place?.messageIndex ?? -1) + 1,
    firstKept,
    summary,
    trigger,
    guidance,
    tokensBefore: contextTokens(entries, besidesTokens),
    tokensAfter: besidesTokens + tokensOfMessages([summaryMessage(summary, 0), ...kept]),
    messagesSummarized: older.length,
    messagesKept: kept.length,
    usage: answer.usage ?? null,
  };
  const total = await usageOfRun(pool, runId, answer.usage);
  const frames = [llmEnd(answer, total), compactionSummary(made)].map((frame) => ({ at: Date.now(), frame }));
  crashPoint('compaction.summarized');
  await commitCompaction(pool, { ...step.lane, frames }, made);
  crashPoint('compaction.committed');
  await withVoice(
    (frame) => step.writer.emit(frame),
    async () => step.events.compacted(compactionSummary(made)),
  );
  return { outcome: 'compacted' };
}

/** Says again what an attempt before has compacted in this step; false when none has. */
export async function sayCompactionAgain({ pool }: Pick<Dependencies, 'pool'>, step: ModelStep): Promise<boolean> {
  const made = await compactionOfStep(pool, step.run.run_id, step.stepIndex);
  if (made === null) return false;
  step.writer.emit(compactionSummary(made));
  return true;
}

/** Says that a compaction that was wished, or wanted, did not come about. */
export async function warnOfSkipped(
  { committer }: Pick<Dependencies, 'committer'>,
  { lane }: ModelStep,
  reason: string,
): Promise<void> {
  const writer = committer.writer({ ...lane, provider: PLATFORM, translate: saysNothing });
  const message = `the conversation was not compacted: ${reason}`;
  writer.emit({ type: 'run.warning', code: 'compaction_skipped', message } satisfies PlatformFrame);
  await writer.drain();
}

async function summarize(
  step: ModelStep,
  older: readonly Message[],
  guidance: string | null,
): Promise<AssistantMessage> {
  for (const [tries, share] of SHARES.entries()) {
    const request = summaryRequest(older, step.window, { guidance, share, timestamp: Date.now() });
    const answer = await askModel(step, request, { onEnd: (message) => step.events.summaryEnded(message) });
    const isTooLong = answer.stopReason === 'error' && answer.error?.code === 'context_length_exceeded';
    if (!isTooLong || tries === SHARES.length - 1 || isCancelled(step)) return answer;
    step.writer.emit(llmEnd(answer));
  }
  throw new Error('a summary is asked for at least once');
}

/** Why an answer is no summary; null when it is one. */
function faultOf(answer: AssistantMessage, summary: string, older: readonly Message[]): string | null {
  if (answer.stopReason === 'error') return answer.errorMessage ?? 'the model call failed';
  if (summary === '') return 'the model gave no summary';
  const isShorter = tokensOfMessage(summaryMessage(summary, 0)) < tokensOfMessages(older);
  return isShorter ? null : "the model's summary is as long as what it was to replace";
}
