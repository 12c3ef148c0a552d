import { z } from 'zod';
import { previewText } from '../../../contract/frames.ts';
import type { ApprovalOption, EngineAnswer, EngineQuestion } from '../driver.ts';
import { ToolCallPatch, type NamedCall } from './open-tools.ts';

const PROMPT_CHARS = 2_000;

export const PermissionRequest = z.object({
  toolCall: ToolCallPatch,
  options: z.array(z.object({ optionId: z.string(), kind: z.string().catch('') })).catch([]),
});
export type PermissionRequest = z.infer<typeof PermissionRequest>;

export type PermissionOutcome = { outcome: 'selected'; optionId: string } | { outcome: 'cancelled' };

/** A permission request as a question to a person; `call` is the tool call with all that is known of it. */
export function approvalQuestion(
  nativeId: string,
  call: NamedCall,
  options: PermissionRequest['options'],
): EngineQuestion {
  const { name: toolName, title } = call;
  return {
    kind: 'approval',
    nativeId,
    toolCallId: call.toolCallId,
    toolName,
    arguments: argumentsOf(call),
    prompt: previewText(title == null || title === '' ? toolName : `${toolName}: ${title}`, PROMPT_CHARS),
    options: offered(options),
    schema: null,
  };
}

/**
 * The answer as the agent takes it.
 *
 * **Contract:** never more than was granted: an approval for once never chooses what the agent calls always. What cannot be said
 * with the options at hand is `cancelled`, after which the agent does not run the tool.
 */
export function outcomeOf(answer: EngineAnswer, options: PermissionRequest['options']): PermissionOutcome {
  const choose = (...kinds: string[]): PermissionOutcome => {
    const found = kinds
      .map((kind) => options.find((option) => option.kind === kind))
      .find((option) => option !== undefined);
    return found === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId: found.optionId };
  };
  switch (answer.status) {
    case 'approved':
      return answer.always ? choose('allow_always', 'allow_once') : choose('allow_once');
    case 'rejected':
      return choose('reject_once', 'reject_always');
    case 'edited':
    case 'answered':
    case 'dismissed':
    case 'expired':
    case 'cancelled':
      return { outcome: 'cancelled' };
  }
}

function offered(options: PermissionRequest['options']): ApprovalOption[] {
  const kinds = new Set(options.map(({ kind }) => kind));
  return [
    ...(kinds.has('allow_once') ? (['approve'] as const) : []),
    ...(kinds.has('allow_always') ? (['always'] as const) : []),
    'reject',
  ];
}

/** What the answer is given for: the tool's input, or, where the agent hides it, everything that it shows. */
function argumentsOf({ rawInput, title, kind, content }: ToolCallPatch): Readonly<Record<string, unknown>> {
  const isInput = typeof rawInput === 'object' && rawInput !== null && !Array.isArray(rawInput);
  if (isInput && Object.keys(rawInput).length > 0) return { ...rawInput };
  const shown = { input: rawInput, title, kind, content };
  return Object.fromEntries(Object.entries(shown).filter(([, value]) => value !== undefined && value !== null));
}
