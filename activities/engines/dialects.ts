import { SESSION_PROVIDER, translateSessionFrame } from '../../contract/session-frames.ts';
import type { TranslateFrame } from '../../contract/translation.ts';
import { translateAcpFrame } from './acp/translate.ts';
import { translateAiSdkFrame } from './ai-sdk/translate.ts';
import { translateBuiltinFrame } from './builtin/translate.ts';
import { translateClaudeFrame } from './claude/translate.ts';
import { translateCodexFrame } from './codex/translate.ts';
import { translateCodexExecFrame } from './codex-exec/translate.ts';
import { translateLangGraphFrame } from './langgraph/translate.ts';
import { translateLifecycleFrame } from './lifecycle/translate.ts';
import { translateOpencodeFrame } from './opencode/translate.ts';
import { translatePiFrame } from './pi/translate.ts';

/** The dialects by the kind in a frame's provider tag: `acp` of `acp:opencode`. */
const DIALECTS: ReadonlyMap<string, TranslateFrame> = new Map([
  ['acp', translateAcpFrame],
  ['ai-sdk', translateAiSdkFrame],
  ['builtin', translateBuiltinFrame],
  ['claude', translateClaudeFrame],
  ['codex', translateCodexFrame],
  ['codex-exec', translateCodexExecFrame],
  ['langgraph', translateLangGraphFrame],
  ['lifecycle', translateLifecycleFrame],
  ['opencode', translateOpencodeFrame],
  ['pi', translatePiFrame],
  [SESSION_PROVIDER, translateSessionFrame],
]);

/**
 * Every engine's dialect, chosen by the frame's provider: a stored lane can be translated by any worker, whatever engines it is
 * configured with.
 */
export const translateEngineFrame: TranslateFrame = (frame, context, state) => {
  const [kind = ''] = context.provider.split(':');
  return DIALECTS.get(kind)?.(frame, context, state) ?? { said: undefined };
};
