import type { AgentContext, AssistantMessage, Message } from '../../contract/agent-messages.ts';
import { readConversation, type ConversationEntry } from '../../infra/postgres/conversation.ts';
import {
  compactConversation,
  keepTokensOf,
  sayCompactionAgain,
  warnOfSkipped,
  type Compacting,
} from './compact-conversation.ts';
import type { Dependencies } from '../dependencies.ts';
import { contextTokens, tokensOfText } from '../engines/builtin/compaction/context-tokens.ts';
import { llmEnd } from '../engines/builtin/frames.ts';
import { failStep, failureOf, type ModelStep } from './model-step.ts';

/** What is sent beside the conversation. */
type Besides = Pick<AgentContext, 'systemPrompt' | 'tools'>;

export interface Fitted {
  readonly messages: readonly Message[];
  /** Whether this step has compacted the conversation: it does so once. */
  readonly hasCompacted: boolean;
}

/**
 * The conversation for the step's model call, compacted where it would fill the model's context.
 *
 * **Contract:** when it cannot be compacted the call goes on while it may still fit, with a warning; else the attempt fails, as
 * `context_length_exceeded` or with what the summary's call failed of. A repeated step does not compact again, and a sub-agent's
 * conversation never is.
 */
export async function fitConversation(
  deps: Dependencies,
  step: ModelStep,
  besides: Besides,
): Promise<Fitted | 'cancelled'> {
  const { window, agent } = step;
  if (agent.conversation !== null) return { messages: await agent.conversation(), hasCompacted: false };
  const hasCompacted = await sayCompactionAgain(deps, step);
  const entries = await readConversation(deps.pool, step.run.run_id);
  const besidesTokens = tokensOf(besides);
  const tokens = contextTokens(entries, besidesTokens);
  if (hasCompacted || tokens <= window.compactOverTokens) return fits(entries, tokens, hasCompacted);
  const keepTokens = keepTokensOf(window);
  const turnTokens = Math.floor(window.compactOverTokens / 2);
  const done = await compactConversation(deps, step, {
    entries,
    trigger: 'automatic',
    guidance: null,
    keepTokens,
    turnTokens,
    besidesTokens,
  });
  switch (done.outcome) {
    case 'cancelled':
      return 'cancelled';
    case 'compacted': {
      const compacted = await readConversation(deps.pool, step.run.run_id);
      return fits(compacted, contextTokens(compacted, besidesTokens), true);
    }
    case 'too-little':
      return fits(entries, tokens, false);
    case 'no-summary':
      await warnOfSkipped(deps, step, done.reason);
      return fits(entries, tokens, false);
    case 'failed': {
      const failure = failureOf(done.answer);
      if (isOver(tokens)) return await failStep(deps, step, failure);
      await warnOfSkipped(deps, step, failure.message);
      return fits(entries, tokens, false);
    }
  }

  function isOver(promptTokens: number): boolean {
    return window.isTold && promptTokens > window.contextTokens;
  }

  async function fits(view: readonly ConversationEntry[], promptTokens: number, compacted: boolean): Promise<Fitted> {
    const messages = view.map(({ message }) => message);
    if (!isOver(promptTokens)) return { messages, hasCompacted: compacted };
    const size = `about ${String(promptTokens)} tokens, and the model's context has ${String(window.contextTokens)}`;
    const message = `the conversation is too long to go on: ${size}`;
    return await failStep(deps, step, { code: 'context_length_exceeded', retryable: false, message });
  }
}

/** Whether the provider refused a call, before it said anything, because its prompt is over the model's context. */
export function isTooLong({ stopReason, error, content }: AssistantMessage): boolean {
  return stopReason === 'error' && error?.code === 'context_length_exceeded' && content.length === 0;
}

/**
 * The conversation for another call after the provider found it too long: compacted, whatever was thought of its size.
 *
 * **Contract:** where that cannot be, or was done in this step, the attempt fails with the provider's refusal.
 */
export async function fitAfterRefusal(
  deps: Dependencies,
  step: ModelStep,
  besides: Besides,
  { refusal, hasCompacted }: { refusal: AssistantMessage; hasCompacted: boolean },
): Promise<Fitted | 'cancelled'> {
  if (hasCompacted || step.agent.conversation !== null) return await failStep(deps, step, failureOf(refusal));
  step.writer.emit(llmEnd(refusal));
  const entries = await readConversation(deps.pool, step.run.run_id);
  const besidesTokens = tokensOf(besides);
  const tokens = contextTokens(entries, besidesTokens);
  const done: Compacting = await compactConversation(deps, step, {
    entries,
    trigger: 'automatic',
    guidance: null,
    // the count was wrong, so it bounds nothing but by its parts
    keepTokens: Math.min(keepTokensOf(step.window), Math.floor(tokens / 4)),
    turnTokens: Math.floor(tokens / 2),
    besidesTokens,
  });
  if (done.outcome === 'cancelled') return 'cancelled';
  if (done.outcome === 'compacted') {
    const compacted = await readConversation(deps.pool, step.run.run_id);
    return { messages: compacted.map(({ message }) => message), hasCompacted: true };
  }
  const failure = done.outcome === 'failed' ? failureOf(done.answer) : null;
  return await failStep(deps, step, failure?.retryable === true ? failure : failureOf(refusal));
}

function tokensOf({ systemPrompt = '', tools }: Besides): number {
  return tokensOfText(systemPrompt) + tokensOfText(JSON.stringify(tools));
}
