import { z } from 'zod';
import { previewText } from '../../../contract/frames.ts';
import type { EngineAnswer, EngineQuestion } from '../driver.ts';
import type {
  CommandExecutionRequestApprovalResponse,
  FileChangeRequestApprovalResponse,
  GrantedPermissionProfile,
  PermissionsRequestApprovalParams,
  PermissionsRequestApprovalResponse,
} from './app-server-types.ts';
import type { Item } from './codex-schema.ts';

const PROMPT_CHARS = 2_000;
const words = z.string().nullish().catch(null);

export const ApprovalRequest = z.object({
  itemId: z.string().min(1),
  reason: words,
  command: words,
  cwd: words,
  grantRoot: words,
  networkApprovalContext: z.record(z.string(), z.unknown()).nullish().catch(null),
  // shown, and given back as they came
  permissions: z.custom<Partial<PermissionsRequestApprovalParams['permissions']>>(isObject).catch({}),
});
type ApprovalRequest = z.infer<typeof ApprovalRequest>;

/** How a request for approval is shown to a person, and how it takes the answer. */
interface Approval {
  readonly toolName: string;
  argumentsOf(request: ApprovalRequest, item: Item | null): Readonly<Record<string, unknown>>;
  resultOf(answer: EngineAnswer, request: ApprovalRequest): Response;
}

/** What is answered to each of the requests. */
type Decision = CommandExecutionRequestApprovalResponse & FileChangeRequestApprovalResponse;
type Response = Decision | PermissionsRequestApprovalResponse;

const APPROVALS: ReadonlyMap<string, Approval> = new Map<string, Approval>([
  [
    'item/commandExecution/requestApproval',
    {
      toolName: 'shell',
      argumentsOf: ({ command, cwd, networkApprovalContext }, item) => ({
        command: command ?? item?.command ?? '',
        cwd: cwd ?? item?.cwd ?? '',
        ...(networkApprovalContext == null ? {} : { network: networkApprovalContext }),
      }),
      resultOf: decision,
    },
  ],
  [
    'item/fileChange/requestApproval',
    {
      toolName: 'apply_patch',
      // the request names only the item; what is to be changed came with the item's beginning
      argumentsOf: ({ grantRoot }, item) => ({
        changes: (item?.changes ?? []).map(({ path, kind, diff }) => ({ path, kind: kind.type, diff })),
        ...(grantRoot == null ? {} : { grantRoot }),
      }),
      resultOf: decision,
    },
  ],
  [
    'item/permissions/requestApproval',
    {
      toolName: 'request_permissions',
      argumentsOf: ({ permissions, cwd }) => ({ permissions, ...(cwd == null ? {} : { cwd }) }),
      resultOf: (answer, { permissions }) =>
        answer.status === 'approved'
          ? { permissions: granted(permissions), scope: answer.always ? 'session' : 'turn' }
          : { permissions: {}, scope: 'turn' },
    },
  ],
]);

export interface AskedApproval {
  readonly question: EngineQuestion;
  resultOf(answer: EngineAnswer): Response;
}

/**
 * A request for approval as a question to a person; null for a request that is none. `itemOf` gives what is known of an item.
 *
 * **Contract:** `resultOf` never grants more than was granted: only `always` gives a session's approval, and whatever is neither
 * approved nor rejected stops the turn without running the tool.
 */
export function approvalOf(
  request: { readonly nativeId: string; readonly method: string; readonly params: unknown },
  itemOf: (itemId: string) => Item | null,
): AskedApproval | null {
  const approval = APPROVALS.get(request.method);
  const parsed = ApprovalRequest.safeParse(request.params);
  if (approval === undefined || !parsed.success) return null;
  const { itemId, reason } = parsed.data;
  const { toolName } = approval;
  const args = approval.argumentsOf(parsed.data, itemOf(itemId));
  const prompt = reason == null || reason === '' ? `${toolName}: ${titleOf(args)}` : reason;
  return {
    question: {
      kind: 'approval',
      nativeId: request.nativeId,
      toolCallId: itemId,
      toolName,
      arguments: args,
      prompt: previewText(prompt, PROMPT_CHARS),
      options: ['approve', 'always', 'reject'],
      schema: null,
    },
    resultOf: (answer) => approval.resultOf(answer, parsed.data),
  };
}

function decision(answer: EngineAnswer): Decision {
  if (answer.status === 'approved') return { decision: answer.always ? 'acceptForSession' : 'accept' };
  return { decision: answer.status === 'rejected' ? 'decline' : 'cancel' };
}

/** What was asked for is granted as it was asked; what was not asked for is left out. */
function granted(permissions: ApprovalRequest['permissions']): GrantedPermissionProfile {
  const { network, fileSystem } = permissions;
  return { ...(network == null ? {} : { network }), ...(fileSystem == null ? {} : { fileSystem }) };
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

function titleOf(args: Readonly<Record<string, unknown>>): string {
  const { command, changes } = args;
  if (typeof command === 'string') return command;
  if (Array.isArray(changes)) return changes.map((change: { path: string }) => change.path).join(', ');
  return Object.keys(args).join(', ');
}
