/** What says nothing that a reader of a run is to see, and why. A type that stands in no list of the dialect is told as unmapped. */
const REASONS: Readonly<Record<string, string>> = {
  initialized: 'bookkeeping of the connection',
  'initialize:result': 'bookkeeping of the connection',
  'turn/start:result': 'the turn begins with turn/started',
  'turn/interrupt:result': 'the turn ends with turn/completed',
  'turn/interrupt:error': 'there was no turn to interrupt any more',
  'thread/turns/list:result': 'asked by the platform itself',
  'thread/turns/list:error': 'asked by the platform itself',
  'thread/resume:error': 'another session is begun instead',
  'serverRequest/resolved': 'the platform says what was answered',
  'thread/status/changed': 'the turn says it',
  'thread/readState/changed': 'bookkeeping of the engine',
  'thread/archived': 'bookkeeping of the engine',
  'thread/unarchived': 'bookkeeping of the engine',
  'thread/deleted': 'bookkeeping of the engine',
  'thread/closed': 'bookkeeping of the engine',
  'thread/section/changed': 'bookkeeping of the engine',
  'thread/queue/changed': 'bookkeeping of the engine',
  'thread/attachment/updated': 'bookkeeping of the engine',
  'thread/prediction/updated': 'bookkeeping of the engine',
  'thread/environment/connected': 'bookkeeping of the engine',
  'thread/environment/disconnected': 'bookkeeping of the engine',
  'thread/project/updated': 'bookkeeping of the engine',
  'project/changed': 'bookkeeping of the engine',
  'remoteControl/status/changed': 'bookkeeping of the engine',
  'account/updated': 'about the account, not the run',
  'account/gatewayOAuth/changed': 'about the account, not the run',
  'account/login/completed': 'about the account, not the run',
  'mcpServer/oauthLogin/completed': 'about the account, not the run',
  'modelProvider/authRecoveryStarted': 'about the account, not the run',
  'modelProvider/authRecoveryCompleted': 'about the account, not the run',
  'app/list/updated': 'a list that no surface shows',
  'skills/changed': 'a list that no surface shows',
  'hook/started': 'a hook of the engine',
  'hook/completed': 'a hook of the engine',
  'item/autoApprovalReview/started': 'the tool says how the review ended',
  'item/autoApprovalReview/completed': 'the tool says how the review ended',
  'item/fileChange/outputDelta': 'the change itself says it',
  'item/commandExecution/terminalInteraction': 'the output of the terminal says it',
  'rawResponseItem/completed': 'the item says it',
  'rawResponse/completed': 'the item says it',
  'turn/moderationMetadata': 'bookkeeping of the model',
  'model/verification': 'bookkeeping of the model',
  'model/safetyBuffering/updated': 'bookkeeping of the model',
  'item/tool/requestUserInput': 'the platform asks',
  'mcpServer/elicitation/request': 'the platform asks',
  'item/permissions/requestApproval': 'the platform asks',
  'thread/compacted': 'the item of the compaction says it',
  malformed: 'the run ends with it',
};

const QUIET_ITEMS: Readonly<Record<string, string>> = {
  userMessage: 'what the agent was told',
  hookPrompt: 'what a hook of the engine told the agent',
  functionCallOutput: 'the tool that it is the output of says it',
};

/** Why a message is not said; null for one that is, or that nobody knows. What we sent ourselves is never said. */
export function whyQuiet(type: string, dir: unknown): string | null {
  if (Object.hasOwn(REASONS, type)) return REASONS[type] ?? null;
  return dir === 'send' ? 'what this side said' : null;
}

export function whyQuietItem(type: string): string | null {
  return Object.hasOwn(QUIET_ITEMS, type) ? (QUIET_ITEMS[type] ?? null) : null;
}
