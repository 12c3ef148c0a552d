import OpenAI from 'openai';
import { Stream } from 'openai/core/streaming';
import { SDK_DEFAULTS, type Sending, type Sent, type Server } from './protocol.ts';

/** OpenAI's SDK for one call. */
export function openaiClient(server: Server, { fetch }: Sending): OpenAI {
  return new OpenAI({
    ...SDK_DEFAULTS,
    apiKey: server.apiKey,
    baseURL: server.baseUrl,
    organization: null,
    project: null,
    fetch,
  });
}

/** What was sent, with its stream read by the SDK. */
export function openaiSent(client: OpenAI, response: Response): Sent {
  return { response, events: () => Stream.fromSSEResponse<unknown>(response, new AbortController(), client) };
}
