import type { AgentContext, AssistantContent, AssistantMessage, StopReason } from '../../contract/agent-messages.ts';
import { textOf } from '../../contract/agent-messages.ts';
import { defineExtension } from '../../contract/extensions/extension.ts';
import type { CallOptions, OnProviderEvent } from '../../contract/extensions/register-kinds.ts';

/**
 * A provider of one's own: a "model" that follows rules and needs no network. `rules/refunds` reads "refund 250 for A-17", asks for the
 * tool, and says what came of it. A provider for a real server does the same around its request.
 */
export default defineExtension((api) => {
  api.register('provider', {
    name: 'rules',
    api: 'rules',
    complete: async (model, context, options, onEvent) => await answer(model, context, options, onEvent),
    convertMessages: (messages) => messages.map(({ role, content }) => ({ role, text: textOf(content) })),
    convertTools: (tools) => tools.map(({ name }) => ({ name })),
    mapStopReason: (reason): StopReason => (reason === 'call' ? 'tool-use' : 'stop'),
    parseResponse: (response, model) => messageOf(model, [{ type: 'text', text: String(response) }]),
    buildBody: (model, { messages }) => ({ model, text: lastText(messages) }),
  });
});

async function answer(
  model: string,
  { messages }: AgentContext,
  { toolCallId, signal }: CallOptions,
  onEvent?: OnProviderEvent,
): Promise<AssistantMessage> {
  if (signal.aborted) return { ...messageOf(model, []), stopReason: 'aborted' };
  const last = messages.at(-1);
  const refund = last?.role === 'user' ? /refund (\d+) for ([\w-]+)/.exec(textOf(last.content)) : null;
  const said = refund === null ? `Done. ${lastText(messages)}` : 'I will see to it.';
  const content: AssistantContent[] = [{ type: 'text', text: said }];
  await onEvent?.({ type: 'start' });
  await onEvent?.({ type: 'text-start', contentIndex: 0 });
  await onEvent?.({ type: 'text-delta', contentIndex: 0, delta: said });
  await onEvent?.({ type: 'text-end', contentIndex: 0, content: said });
  if (refund !== null) {
    const args = { order: refund[2] ?? '', cents: Number(refund[1]) };
    const toolCall = { type: 'tool-call', id: toolCallId(0), name: 'refund_order', arguments: args } as const;
    content.push(toolCall);
    await onEvent?.({ type: 'tool-call-start', contentIndex: 1 });
    await onEvent?.({ type: 'tool-call-end', contentIndex: 1, toolCall });
  }
  const message = messageOf(model, content);
  await onEvent?.({ type: 'done', message });
  return message;
}

function messageOf(model: string, content: AssistantContent[]): AssistantMessage {
  const stopReason = content.some(({ type }) => type === 'tool-call') ? 'tool-use' : 'stop';
  return { role: 'assistant', content, api: 'rules', provider: 'rules', model, stopReason, timestamp: Date.now() };
}

function lastText(messages: AgentContext['messages']): string {
  return textOf(messages.at(-1)?.content ?? '');
}
