import { previewText } from '../../../contract/frames.ts';
import type { EngineAnswer, EngineQuestion } from '../driver.ts';
import type { Part, PermissionAsked } from './opencode-schema.ts';

const PROMPT_CHARS = 2_000;

export interface PermissionReply {
  readonly reply: 'once' | 'always' | 'reject';
  readonly message?: string;
}

/**
 * What is asked before a tool acts, as a question to a person. `call` is what is known of the tool's call: it may be asked for before
 * the call itself is told. Of a change of a file the diff is shown, too.
 */
export function approvalOf(asked: PermissionAsked, call: Part | null): EngineQuestion {
  const { id, permission, patterns, metadata, always, tool } = asked;
  const input = call === null || Object.keys(call.state.input).length === 0 ? metadata : call.state.input;
  const diff = typeof metadata['diff'] === 'string' ? { diff: metadata['diff'] } : {};
  return {
    kind: 'approval',
    nativeId: id,
    toolCallId: call?.id ?? tool?.callID ?? id,
    toolName: call?.tool ?? permission,
    arguments: { ...input, ...diff },
    prompt: previewText([permission, patterns.join(', ')].filter((text) => text !== '').join(': '), PROMPT_CHARS),
    // without a pattern there is nothing that it could allow from now on
    options: always.length > 0 ? ['approve', 'always', 'reject'] : ['approve', 'reject'],
    schema: null,
  };
}

/**
 * The answer as the server takes it.
 *
 * **Contract:** never more is granted than was granted: only `always` is more than once, and whatever is no approval rejects. The
 * model is told why where the person said why, and goes on then; else its turn ends.
 */
export function permissionReply(answer: EngineAnswer): PermissionReply {
  if (answer.status === 'approved') return { reply: answer.always ? 'always' : 'once' };
  const message = answer.status === 'rejected' ? answer.message : null;
  return { reply: 'reject', ...(message === null || message === '' ? {} : { message }) };
}
