/**
 * The id of a model step's n-th tool call: made from (run, step, ordinal), so that a repeated attempt says the same ids; unique
 * in the thread, and short enough for every provider (40 characters at most).
 */
export function toolCallIdOf(runId: string, stepIndex: number, index: number): string {
  return `call_${runId.slice(-12)}_${String(stepIndex)}_${String(index)}`;
}
