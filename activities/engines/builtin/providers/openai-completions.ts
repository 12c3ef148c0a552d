import { APIConnectionError, APIError, type OpenAI } from 'openai';
import { createHttpProvider, type HttpProviderSettings } from './http-provider.ts';
import { mapFinishReason, OpenAIAnswer } from './openai-answer.ts';
import { openaiClient, openaiSent } from './openai-client.ts';
import { buildBody, convertMessages, convertTools } from './openai-request.ts';
import type { Protocol } from './protocol.ts';
import type { Provider } from './provider.ts';

export const OPENAI_URL = 'https://api.openai.com/v1';

export type OpenAISettings = Omit<HttpProviderSettings, 'baseUrl'> & { readonly baseUrl?: string | undefined };

/** Any server that speaks OpenAI's Chat Completions, on OpenAI's own SDK. */
export function createOpenAICompletions({ baseUrl = OPENAI_URL, ...settings }: OpenAISettings): Provider {
  const maxTokensField = isOpenAI(baseUrl) ? 'max_completion_tokens' : 'max_tokens';
  const protocol: Protocol = {
    api: 'openai-completions',
    sdk: { APIError, APIConnectionError },
    // servers that refuse unknown options refuse `stream_options`, and name it
    wishes: [{ name: 'usage', refusedAs: /stream_options|include_usage/ }],
    endsByMark: true,
    async send(server, body, sending) {
      const client = openaiClient(server, sending);
      const request = body as OpenAI.Chat.ChatCompletionCreateParamsStreaming;
      const { signal } = sending;
      return openaiSent(client, await client.chat.completions.create(request, { signal }).asResponse());
    },
    readerFor: (assembler) => new OpenAIAnswer(assembler),
    buildBody: (context, asked, granted) =>
      buildBody(asked.model, context, { asked, maxTokensField, asksForUsage: granted.has('usage') }),
    convertMessages,
    convertTools,
    mapStopReason: mapFinishReason,
  };
  return createHttpProvider(protocol, { ...settings, baseUrl });
}

/** OpenAI's own endpoints refuse `max_tokens` for their reasoning models; most other servers know nothing else. */
function isOpenAI(baseUrl: string): boolean {
  const host = URL.canParse(baseUrl) ? new URL(baseUrl).hostname : '';
  return /(^|\.)openai\.(azure\.)?com$/.test(host);
}
