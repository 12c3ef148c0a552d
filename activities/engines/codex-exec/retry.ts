/** The engine tells what it tries again and what it gives up by the same event: only its words tell them apart. */
const RETRY = /^Reconnecting\.\.\./;

/** Whether the message of an `error` event is of a failure that the turn goes on after. */
export function isRetry(message: string): boolean {
  return RETRY.test(message);
}
