const STOP_REASONS: Readonly<Record<string, string>> = {
  stop: 'end_turn',
  'content-filter': 'refusal',
  // it had more to call, and its own limit of steps was reached
  'tool-calls': 'max_turn_requests',
};

/** Why a turn ended, in the words of all engines. */
export function stopReasonOf(finishReason: string): string {
  return (Object.hasOwn(STOP_REASONS, finishReason) ? STOP_REASONS[finishReason] : undefined) ?? finishReason;
}
