import { partsOf, type ContentPart, type ModelMessage } from './agent-shape.ts';

const UNKNOWN = 'It is not known whether this call took effect: it was stopped in the middle.';
const NOT_RUN = 'This call was not run: nobody has decided on it.';

/**
 * A conversation that a model takes again: each call that has no result is given one, which says what became of it. `undecided` are
 * the ids of those that waited for a person.
 */
export function withoutOpenCalls(messages: readonly ModelMessage[], undecided: ReadonlySet<string>): ModelMessage[] {
  const answered = new Set(messages.flatMap((message) => idsOf(message, 'tool-result')));
  const closed: ModelMessage[] = [];
  let open: readonly ContentPart[] = [];
  for (const message of [...messages, null]) {
    if (open.length > 0) {
      const results = open.map(({ toolCallId = '', toolName = '' }): ContentPart => {
        const value = undecided.has(toolCallId) ? NOT_RUN : UNKNOWN;
        return { type: 'tool-result', toolCallId, toolName, output: { type: 'error-text', value } };
      });
      if (message?.role === 'tool') {
        closed.push({ ...message, content: [...results, ...partsOf(message)] });
        open = [];
        continue;
      }
      closed.push({ role: 'tool', content: results });
    }
    if (message === null) break;
    closed.push(message);
    open =
      message.role === 'assistant' ? callsOf(message).filter(({ toolCallId = '' }) => !answered.has(toolCallId)) : [];
  }
  return closed;
}

/** The calls of a message that we, and not the model's vendor, are to run. */
export function callsOf(message: ModelMessage): readonly ContentPart[] {
  return partsOf(message).filter(({ type, providerExecuted }) => type === 'tool-call' && providerExecuted !== true);
}

function idsOf(message: ModelMessage, type: string): string[] {
  return partsOf(message).flatMap((part) => (part.type === type ? [part.toolCallId ?? ''] : []));
}
