import { z } from 'zod';
import { previewText } from '../../../contract/frames.ts';
import type { ApprovalOption, EngineAnswer, EngineQuestion } from '../driver.ts';
import { titleOf, toolNameOf } from './tool-facts.ts';

const PROMPT_CHARS = 2_000;
const words = z.string().nullish().catch(null);
const fields = z.record(z.string(), z.unknown());

/** A change of what is allowed, as the program proposes it. */
const Suggestion = z.looseObject({ type: z.string() });

export const PermissionRequest = z.object({
  tool_name: z.string().min(1),
  tool_use_id: z.string().min(1),
  input: fields,
  permission_suggestions: z.array(Suggestion).catch([]),
  decision_reason: words,
  suppress_always_allow_rule: z.boolean().catch(false),
  requires_user_interaction: z.boolean().catch(false),
});
export type PermissionRequest = z.infer<typeof PermissionRequest>;

/** What the program is answered. */
export type PermissionResult =
  | {
      readonly behavior: 'allow';
      readonly updatedInput: Readonly<Record<string, unknown>>;
      readonly updatedPermissions?: readonly object[];
    }
  | { readonly behavior: 'deny'; readonly message: string; readonly interrupt?: true };

export interface AskedPermission {
  readonly question: EngineQuestion;
  resultOf(answer: EngineAnswer): PermissionResult;
}

/**
 * A request for permission as a question to a person. `known` is the call's input by the model's own word: of a plan, the program
 * itself says nothing.
 *
 * **Contract:** `resultOf` never grants more than was granted: only `always` changes what is allowed, for the session alone, and
 * never the session's mode where a rule says the same; whatever is neither approved nor rejected stops the turn without running
 * the tool.
 */
export function permissionOf(nativeId: string, request: PermissionRequest, known: unknown): AskedPermission {
  const { tool_use_id: toolCallId, input } = request;
  const { name: toolName } = toolNameOf(request.tool_name);
  const shown = { ...fields.safeParse(known).data, ...input };
  const what = [toolName, titleOf(shown)].filter((part) => part !== '').join(': ');
  const why = request.decision_reason;
  const lasting = lastingOf(request);
  return {
    question: {
      kind: 'approval',
      nativeId,
      toolCallId,
      toolName,
      arguments: shown,
      prompt: previewText(why == null || why === '' ? what : `${what}\n${why}`, PROMPT_CHARS),
      options: optionsOf(request, lasting),
      schema: null,
    },
    resultOf(answer) {
      switch (answer.status) {
        case 'approved':
          return {
            behavior: 'allow',
            updatedInput: input,
            ...(answer.always && lasting.length > 0 ? { updatedPermissions: lasting } : {}),
          };
        case 'edited':
          return { behavior: 'allow', updatedInput: answer.arguments };
        case 'rejected':
          return { behavior: 'deny', message: rejection(answer.message) };
        case 'answered':
        case 'dismissed':
        case 'expired':
        case 'cancelled':
          return { behavior: 'deny', message: 'Nobody has answered.', interrupt: true };
      }
    },
  };
}

/** What a person who is asked has said no with. */
export function rejection(message: string | null): string {
  return message === null || message === '' ? 'The user rejected this.' : `The user rejected this: ${message}`;
}

/**
 * What `always` would change: rules where there are some, a mode of the session where that is all that is proposed. The program
 * itself would write rules into the settings of the repository around the workspace, where they hold for other threads too.
 */
function lastingOf({ permission_suggestions: suggested, suppress_always_allow_rule: isSuppressed }: PermissionRequest) {
  if (isSuppressed) return [];
  const rules = suggested.filter(({ type }) => type !== 'setMode');
  return (rules.length > 0 ? rules : suggested).map((change) => ({ ...change, destination: 'session' }));
}

/** What is shown whole in the tool's own card is taken or not: an edited plan would not reach the program. */
function optionsOf(request: PermissionRequest, lasting: readonly object[]): readonly ApprovalOption[] {
  if (request.requires_user_interaction) return ['approve', 'reject'];
  return lasting.length > 0 ? ['approve', 'always', 'edit', 'reject'] : ['approve', 'edit', 'reject'];
}
