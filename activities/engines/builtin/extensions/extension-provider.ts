import { AssistantMessage } from '../../../../contract/agent-messages.ts';
import { firstLineOf } from '../../../../contract/extensions/event-bus.ts';
import type { ProviderRecord } from '../../../../contract/extensions/register-kinds.ts';
import { safeText } from '../providers/safe-text.ts';

/**
 * A provider that an extension registered, held to its contract: what it throws, and an answer that is no message, is a failed call.
 */
export function guardedProvider(record: ProviderRecord): ProviderRecord {
  return {
    name: record.name,
    api: record.api,
    convertMessages: (messages) => record.convertMessages(messages),
    convertTools: (tools) => record.convertTools(tools),
    mapStopReason: (reason) => record.mapStopReason(reason),
    parseResponse: (response, model, toolCallId) => record.parseResponse(response, model, toolCallId),
    buildBody: (model, context) => record.buildBody(model, context),
    async complete(model, context, options, onEvent) {
      try {
        const answer = AssistantMessage.safeParse(await record.complete(model, context, options, onEvent));
        if (answer.success) return answer.data;
        const [fault] = answer.error.issues;
        const where = fault?.path.map(String).join('.') ?? '';
        return failed(`the provider ${record.name} gave no assistant message: ${where} ${fault?.message ?? ''}`);
      } catch (thrown) {
        return failed(`the provider ${record.name} failed: ${firstLineOf(thrown)}`);
      }

      function failed(what: string): AssistantMessage {
        const base: AssistantMessage = {
          role: 'assistant',
          content: [],
          provider: record.name,
          api: record.api,
          model,
          timestamp: Date.now(),
        };
        if (options.signal.aborted) return { ...base, stopReason: 'aborted' };
        const error = { code: 'provider_rejected', retryable: false };
        return { ...base, stopReason: 'error', errorMessage: safeText(what, []), error };
      }
    },
  };
}
