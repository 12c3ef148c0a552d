import { APIConnectionError, APIError, type OpenAI } from 'openai';
import { createHttpProvider } from './http-provider.ts';
import { openaiClient, openaiSent } from './openai-client.ts';
import { OPENAI_URL, type OpenAISettings } from './openai-completions.ts';
import type { Protocol } from './protocol.ts';
import type { Provider } from './provider.ts';
import { mapStatus, ResponsesAnswer } from './responses-answer.ts';
import { buildBody, convertMessages, convertTools } from './responses-request.ts';

/** OpenAI's Responses API, with nothing kept at the provider: reasoning comes sealed and goes back with the next call. */
export function createOpenAIResponses({ baseUrl = OPENAI_URL, ...settings }: OpenAISettings): Provider {
  return createHttpProvider(responsesProtocol({ api: 'openai-responses', boundsTokens: true }), {
    ...settings,
    baseUrl,
  });
}

export interface ResponsesDialect {
  readonly api: string;
  /** Whether the server takes a bound on tokens. */
  readonly boundsTokens: boolean;
  readonly headersFor?: (apiKey: string) => Record<string, string>;
}

export function responsesProtocol({ api, boundsTokens, headersFor }: ResponsesDialect): Protocol {
  return {
    api,
    sdk: { APIError, APIConnectionError },
    // models that do not reason refuse both, accounts that are not verified the summary
    wishes: [
      { name: 'summary', refusedAs: /reasoning[._ ]summar|'reasoning'/i },
      { name: 'sealed reasoning', refusedAs: /encrypted[_ ]content|'include'/i },
    ],
    endsByMark: false,
    async send(server, body, sending) {
      const client = openaiClient(server, sending);
      const request = body as OpenAI.Responses.ResponseCreateParamsStreaming;
      const options = { signal: sending.signal, headers: headersFor?.(server.apiKey) ?? {} };
      return openaiSent(client, await client.responses.create(request, options).asResponse());
    },
    readerFor: (assembler) => new ResponsesAnswer(assembler),
    buildBody: (context, asked, granted) =>
      buildBody(asked.model, context, {
        asked,
        boundsTokens,
        asksForSummary: granted.has('summary'),
        asksForSealedReasoning: granted.has('sealed reasoning'),
      }),
    convertMessages,
    convertTools,
    mapStopReason: mapStatus,
  };
}
