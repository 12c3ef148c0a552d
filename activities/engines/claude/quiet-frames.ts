/** What says nothing that a reader of a run is to see, and why. A type that stands in no list of the dialect is told as unmapped. */
const REASONS: Readonly<Record<string, string>> = {
  'control_response/initialize:error': 'the run ends with it',
  'control_response/interrupt': 'the turn ends with its result',
  'control_response/interrupt:error': 'the turn ends with its result',
  'control_response/set_permission_mode': 'the status says the mode',
  control_cancel_request: 'the platform says that it was taken back',
  keep_alive: 'a sign of life',
  'system/session_state_changed': 'the platform says how the turn goes',
  'system/background_tasks_changed': 'the tasks themselves say it',
  'system/thinking_tokens': 'an estimate of what the usage says',
  'system/hook_started': 'a hook of the engine',
  'system/hook_progress': 'a hook of the engine',
  'system/control_request_progress': 'bookkeeping of the connection',
  'system/elicitation_complete': 'the platform asks',
  'stream_event/ping': 'a sign of life',
  tool_use_summary: 'the tools themselves say it',
  prompt_suggestion: 'a hint for an input field',
  malformed: 'the run ends with it',
};

/** Why a message is not said; null for one that is, or that nobody knows. What we sent ourselves is never said. */
export function whyQuiet(type: string, dir: unknown): string | null {
  if (Object.hasOwn(REASONS, type)) return REASONS[type] ?? null;
  return dir === 'send' ? 'what this side said' : null;
}
