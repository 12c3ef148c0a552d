import type { AgentContext } from '../../../../contract/agent-messages.ts';
import { conclude } from './conclude.ts';
import { MessageAssembler } from './message-assembler.ts';
import { attempt, type Attempt } from './openai-attempt.ts';
import { mapFinishReason, outcomeOf, readChunk, type AnswerState } from './openai-answer.ts';
import { buildBody, convertMessages, convertTools } from './openai-request.ts';
import type { Provider } from './provider.ts';

const API = 'openai-completions';
const OPENAI_URL = 'https://api.openai.com/v1';

export interface OpenAICompletionsSettings {
  readonly name: string;
  readonly apiKey: string;
  readonly baseUrl?: string | undefined;
}

/** Any server that speaks OpenAI's Chat Completions, on OpenAI's own SDK. */
export function createOpenAICompletions({ name, apiKey, baseUrl = OPENAI_URL }: OpenAICompletionsSettings): Provider {
  const maxTokensField = isOpenAI(baseUrl) ? 'max_completion_tokens' : 'max_tokens';
  /** Until this server has refused to be asked. */
  let asksForUsage = true;
  const bodyOf = (model: string, context: AgentContext) =>
    buildBody(model, context, { provider: name, maxTokensField, asksForUsage });
  return {
    name,
    api: API,
    async complete(model, context, options, onEvent) {
      await onEvent?.({ type: 'start' });
      const send = async () => await attempt({ apiKey, baseUrl }, bodyOf(model, context), options, onEvent);
      let made = await send();
      if (asksForUsage && refusedToCount(made)) {
        asksForUsage = false;
        made = await send();
      }
      const { message, events } = conclude(
        made.assembler,
        { api: API, provider: name, model },
        made.outcome,
        made.usage,
      );
      for (const event of events) await onEvent?.(event);
      return message;
    },
    convertMessages: (messages) => convertMessages(messages, name),
    convertTools,
    mapStopReason: mapFinishReason,
    parseResponse(response, model, toolCallId) {
      const assembler = new MessageAssembler(toolCallId);
      const state: AnswerState = { finishReason: '', usage: undefined };
      readChunk(response, state, assembler);
      return conclude(assembler, { api: API, provider: name, model }, outcomeOf(state.finishReason), state.usage)
        .message;
    },
    buildBody: bodyOf,
  };
}

/** Servers that refuse unknown options refuse `stream_options`, and name it. */
function refusedToCount({ outcome }: Attempt): boolean {
  return (
    outcome.kind === 'failed' &&
    outcome.failure.code === 'provider_rejected' &&
    /stream_options|include_usage/.test(outcome.failure.message)
  );
}

/** OpenAI's own endpoints refuse `max_tokens` for their reasoning models; most other servers know nothing else. */
function isOpenAI(baseUrl: string): boolean {
  const host = URL.canParse(baseUrl) ? new URL(baseUrl).hostname : '';
  return /(^|\.)openai\.(azure\.)?com$/.test(host);
}
