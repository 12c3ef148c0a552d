import type { LifecycleBody, LifecycleData } from './lifecycle.ts';
import { namespaceKey, type LifecycleState, type Opened, type RuleNumber } from './lifecycle-state.ts';

/** What is said and by whom, before the stream gives it an envelope. */
export interface Said {
  readonly namespace: readonly string[];
  readonly body: LifecycleBody;
}

type Outcome = LifecycleData<'namespace.exited'>['outcome'];

/**
 * The events that close what a stream has left open, in an order that the machine accepts. For a stream that ends without having
 * closed it itself, so that a terminal may follow (rules 9 and 12).
 *
 * **Contract:** after `interrupted` tool calls stay open, since they wait for the answer; after any other outcome each ends as
 * `tool.error`, and none as finished: what it did is unknown.
 */
export function closingEvents(state: LifecycleState, outcome: Outcome): Said[] {
  const said: Said[] = [];
  // what is open in a namespace that has been left cannot be spoken of any more (rule 10)
  const canSpeak = ({ namespace }: Opened) =>
    namespace.length === 0 || state.namespaces[namespaceKey(namespace)] !== undefined;
  for (const [key, { id, namespace }] of Object.entries(state.blocks)) {
    const type = key.startsWith('text:') ? 'text.finished' : 'reasoning.finished';
    if (canSpeak({ id, namespace })) said.push({ namespace, body: { type, data: { message_id: id } } });
  }
  if (outcome !== 'interrupted') {
    for (const tool of Object.values(state.tools)) {
      if (canSpeak(tool)) said.push({ namespace: tool.namespace, body: unfinished(tool.id) });
    }
  }
  const innermostFirst = Object.values(state.namespaces).toSorted((a, b) => b.path.length - a.path.length);
  for (const { path, agentId, parentToolCallId } of innermostFirst) {
    const data = { agent_id: agentId, parent_tool_call_id: parentToolCallId, outcome };
    said.push({ namespace: path, body: { type: 'namespace.exited', data } });
  }
  return said;
}

/** A tool call whose end is not known. */
export function unfinished(toolCallId: string): LifecycleBody<'tool.error'> {
  const message = 'the tool call was not finished; what it did is unknown';
  return { type: 'tool.error', data: { tool_call_id: toolCallId, code: 'tool_unfinished', message, retryable: false } };
}

export interface StreamFault {
  readonly rule: RuleNumber | null;
  readonly reason: string;
  /** Under which the log has the refusal. */
  readonly correlationId: string;
}

/**
 * How a coordinator ends the stream of an adapter that broke a rule, sent what is no event (`rule` null), or went away (rule 12): what
 * is open is closed, and `run.error` says which rule it was.
 *
 * **Contract:** legal in every running stream. An interrupt is published only together with its `run.interrupted`, so a published
 * stream is never between the two.
 */
export function failedEnding(
  state: LifecycleState,
  { rule, reason, correlationId }: StreamFault,
  side_effect_status: LifecycleData<'run.error'>['side_effect_status'],
): Said[] {
  const code = rule === 12 ? 'harness_stream_closed' : 'harness_event_invalid';
  const message = `the adapter broke ${rule === null ? 'the envelope' : `rule ${String(rule)}`} of lifecycle v1: ${reason} (correlation id ${correlationId})`;
  const data = { code, message, retryable: false, retry_after_seconds: null, side_effect_status };
  return [...closingEvents(state, 'error'), { namespace: [], body: { type: 'run.error', data } }];
}
