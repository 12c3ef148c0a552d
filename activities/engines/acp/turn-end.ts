import { z } from 'zod';
import { previewText } from '../../../contract/frames.ts';
import type { TurnEnd } from '../driver.ts';
import type { WireFrame } from '../wire/wire-frame.ts';
import { Chunk, PromptResult, RpcError, SessionInfo, SessionUpdate } from './acp-schema.ts';

const MESSAGE_CHARS = 500;
const STOP_REASONS: Readonly<Record<string, string>> = { max_tokens: 'length' };
const FAILED_THREAD = 'systemError';
const UNNAMED_ERROR = 'the model failed';

/**
 * How the turn ended, from the answer to `session/prompt`; null for any other frame.
 *
 * **Contract:** the message of a failure is what the agent says of it, on one line, at most 500 characters, without the word of
 * its protocol before it and without what looks like a key.
 */
export function turnEndOf(frame: WireFrame): TurnEnd | null {
  if (frame.type === 'session/prompt:error') {
    const { message, code } = RpcError.safeParse(frame.error).data ?? {};
    const said = safeMessage(message ?? '');
    const numbered = `the agent refused the prompt${code == null ? '' : ` with code ${String(code)}`}`;
    return { outcome: 'failed', code: 'engine_failed', message: said === '' ? numbered : said };
  }
  if (frame.type !== 'session/prompt:result') return null;
  const stopReason = PromptResult.safeParse(frame.result).data?.stopReason ?? 'end_turn';
  if (stopReason === 'cancelled') return { outcome: 'cancelled' };
  const known = Object.hasOwn(STOP_REASONS, stopReason) ? STOP_REASONS[stopReason] : undefined;
  return { outcome: 'completed', stopReason: known ?? stopReason };
}

/** A failure of codex-acp's model, which ends its turn as if nothing had been. */
export interface CodexError {
  readonly message: string;
  /** Codex tries again: the turn has failed only if this becomes false. */
  readonly willRetry: boolean;
}

/**
 * What codex-acp has told of a failure after this frame, from `before`, which is what it had told until then. A turn that ends
 * `end_turn` has failed all the same when the last answer says `willRetry: false`.
 *
 * **Contract:** pure; of frames of other agents it is always null. A message of the model after a retry takes the failure back.
 */
export function codexErrorOf(frame: WireFrame, before: CodexError | null = null): CodexError | null {
  if (frame.type !== 'session/update' || frame.dir !== 'recv') return before;
  const parsed = SessionUpdate.safeParse(frame.params).data?.update;
  if (parsed?.sessionUpdate === 'agent_message_chunk') return afterText(before, Chunk.safeParse(parsed).data);
  if (parsed?.sessionUpdate !== 'session_info_update') return before;
  const codex = SessionInfo.safeParse(parsed).data?.['_meta']?.codex;
  if (codex?.error != null) {
    const { message, additionalDetails, willRetry } = codex.error;
    const said = safeMessage(willRetry === true ? (additionalDetails ?? message ?? '') : (message ?? ''));
    return { message: said === '' ? UNNAMED_ERROR : said, willRetry: willRetry === true };
  }
  if (codex?.threadStatus?.type !== FAILED_THREAD) return before;
  return { message: before?.message ?? UNNAMED_ERROR, willRetry: false };
}

/** After the thread has failed, what comes as text is the error itself. */
function afterText(before: CodexError | null, chunk: z.infer<typeof Chunk> | undefined): CodexError | null {
  if (before === null || chunk === undefined) return before;
  if (before.willRetry) return null;
  const said = safeMessage(chunk.content.text ?? '');
  return before.message === UNNAMED_ERROR && said !== '' ? { ...before, message: said } : before;
}

const NestedError = z.looseObject({ error: z.looseObject({ message: z.string() }) });

function safeMessage(text: string): string {
  const said = nestedMessage(text.trim()).replace(/^Internal error:?\s*/i, '');
  const withoutKeys = said.replaceAll(
    /\b(?:sk|key|pk|ghp|xox[a-z])[-_][\w-]{12,}|\bAIza[\w-]{12,}|\bBearer\s+\S+/gi,
    '[removed]',
  );
  const [line = ''] = withoutKeys.split(/\n\s*at /, 1);
  return previewText(line.replaceAll(/\s+/g, ' ').trim(), MESSAGE_CHARS);
}

/** Some agents give the body of the model's answer as the message. */
function nestedMessage(text: string): string {
  if (!text.startsWith('{')) return text;
  try {
    const parsed: unknown = JSON.parse(text);
    return NestedError.safeParse(parsed).data?.error.message ?? text;
  } catch {
    return text;
  }
}
