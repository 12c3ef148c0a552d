import Anthropic, { APIConnectionError, APIError } from '@anthropic-ai/sdk';
import { Stream } from '@anthropic-ai/sdk/core/streaming';
import { AnthropicAnswer, mapStopReason } from './anthropic-answer.ts';
import { buildBody, convertMessages, convertTools, type Thinking } from './anthropic-request.ts';
import { createHttpProvider, type HttpProviderSettings } from './http-provider.ts';
import { SDK_DEFAULTS, type Protocol } from './protocol.ts';
import type { Provider } from './provider.ts';

const ANTHROPIC_URL = 'https://api.anthropic.com';

export interface AnthropicSettings extends Omit<HttpProviderSettings, 'baseUrl'> {
  readonly baseUrl?: string | undefined;
  readonly thinking?: Thinking;
}

/** Anthropic's Messages API, on Anthropic's own SDK. */
export function createAnthropicMessages({
  baseUrl = ANTHROPIC_URL,
  thinking,
  ...settings
}: AnthropicSettings): Provider {
  const protocol: Protocol = {
    api: 'anthropic-messages',
    sdk: { APIError, APIConnectionError },
    wishes: [],
    endsByMark: false,
    async send(server, body, { signal, fetch }) {
      const client = new Anthropic({
        ...SDK_DEFAULTS,
        apiKey: server.apiKey,
        authToken: null,
        baseURL: server.baseUrl,
        fetch,
      });
      const request = body as Anthropic.MessageCreateParamsStreaming;
      const response = await client.messages.create(request, { signal }).asResponse();
      return { response, events: () => eventsOf(response) };
    },
    readerFor: (assembler) => new AnthropicAnswer(assembler),
    buildBody: (context, asked) => buildBody(asked.model, context, { asked, thinking }),
    convertMessages,
    convertTools,
    mapStopReason,
  };
  return createHttpProvider(protocol, { ...settings, baseUrl });
}

/** Each event's JSON says its type itself, so that a server which leaves the events' names out is understood too. */
async function* eventsOf(response: Response): AsyncGenerator<unknown> {
  for await (const { data } of Stream.rawEvents(response)) {
    if (data !== '' && data !== '[DONE]') yield JSON.parse(data) as unknown;
  }
}
