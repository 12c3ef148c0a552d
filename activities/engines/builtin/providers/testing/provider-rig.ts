import { afterAll, beforeAll } from 'vitest';
import type {
  AgentContext,
  AssistantMessage,
  Message,
  ToolResultMessage,
} from '../../../../../contract/agent-messages.ts';
import type { AuthBackend } from '../../auth/auth-backend.ts';
import type { CallOptions, Provider, ProviderEvent } from '../provider.ts';
import { fixedKey } from './fixed-key.ts';
import { API_KEY, startWireServer, stream, type Answer, type WireServer } from './wire-server.ts';
import { user, type Said, type SaidAnswer, type SeenRequest, type WireScript } from './wire-script.ts';

export interface Asking extends Partial<CallOptions>, Partial<AgentContext> {
  readonly auth?: AuthBackend;
}

export interface Asked {
  readonly message: AssistantMessage;
  readonly events: ProviderEvent[];
  /** How many requests were made. */
  readonly sent: number;
}

/** One API's provider against a server that answers as the API's script says. */
export interface ProviderRig {
  readonly server: WireServer;
  provider(auth?: AuthBackend): Provider;
  ask(answer: Answer, asking?: Asking): Promise<Asked>;
  says(answer: SaidAnswer): Answer;
  refuses(status: number, message: string, headers?: Record<string, string>): Answer;
  /** A stream that is cut before it says how it ends. */
  cut(...said: Said[]): string[];
  /** What the newest request held. */
  seen(): SeenRequest;
}

/** Starts the server before a suite's tests and stops it after them. */
export function useProviderRig(script: WireScript): ProviderRig {
  const started: { server?: WireServer } = {};
  beforeAll(async () => {
    started.server = await startWireServer();
  });
  afterAll(async () => await started.server?.close());
  const rig: ProviderRig = {
    get server() {
      if (started.server === undefined) throw new Error('the server runs from the first test on');
      return started.server;
    },
    provider: (auth = fixedKey(API_KEY)) =>
      script.create({ name: 'vendor', auth, baseUrl: script.baseUrl(rig.server.address) }),
    async ask(
      answer,
      { auth, messages = [user('hello')], tools = [], maxTokens = 4_000, systemPrompt, ...options } = {},
    ) {
      const events: ProviderEvent[] = [];
      const before = rig.server.received.length;
      rig.server.answer = answer;
      const message = await rig
        .provider(auth)
        .complete(
          'model-1',
          { messages, tools, maxTokens, ...(systemPrompt === undefined ? {} : { systemPrompt }) },
          { signal: new AbortController().signal, stallMs: 5_000, toolCallId: (n) => `tc_${String(n)}`, ...options },
          (event) => void events.push(event),
        );
      return { message, events, sent: rig.server.received.length - before };
    },
    says: (answer) => stream(script.stream(answer)),
    refuses:
      (status, message, headers = {}) =>
      (response) => {
        response.writeHead(status, { 'content-type': 'application/json', ...headers });
        response.end(JSON.stringify(script.refusal(message)));
      },
    cut: (...said) => script.stream({ said, end: null }),
    seen: () => script.seen(rig.server.received.at(-1)?.body ?? {}),
  };
  return rig;
}

export const SAID_USAGE = { uncached: 60, cached: 40, output: 20 };
export const COUNTED = { input: 60, output: 20, cacheRead: 40, totalTokens: 120 };
export const CALLS: Said = {
  type: 'calls',
  calls: [
    { id: 'call_a', name: 'weather', pieces: ['{"ci', 'ty":"Lon', 'don"}'] },
    { id: 'call_b', name: 'now', pieces: ['{', '}'] },
  ],
};
export const text = (...pieces: string[]): Said => ({ type: 'text', pieces });
export const thinking = (seal: string, ...pieces: string[]): Said => ({ type: 'thinking', seal, pieces });

/** A result for each of a message's calls. */
export function resultsOf(message: AssistantMessage): Message[] {
  return message.content.flatMap((block): ToolResultMessage[] =>
    block.type === 'tool-call'
      ? [
          {
            role: 'tool-result',
            toolCallId: block.id,
            toolName: block.name,
            content: [{ type: 'text', text: `result of ${block.id}` }],
            isError: false,
            timestamp: 1,
          },
        ]
      : [],
  );
}
