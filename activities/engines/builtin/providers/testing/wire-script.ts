import type { AgentContext } from '../../../../../contract/agent-messages.ts';
import type { HttpProviderSettings } from '../http-provider.ts';
import type { Provider } from '../provider.ts';

/** What a model says, in the order of the blocks. */
export type Said =
  | { readonly type: 'text'; readonly pieces: readonly string[] }
  | { readonly type: 'refusal'; readonly pieces: readonly string[] }
  /** `seal`: what has to go back to the provider. */
  | { readonly type: 'thinking'; readonly pieces: readonly string[]; readonly seal: string }
  | { readonly type: 'hidden-thinking'; readonly seal: string }
  /** The pieces of arguments of parallel calls, in the order in which they come. */
  | { readonly type: 'calls'; readonly calls: readonly SaidCall[] };

export interface SaidCall {
  readonly id: string;
  readonly name: string;
  readonly pieces: readonly string[];
}

export interface SaidUsage {
  readonly uncached: number;
  readonly cached: number;
  readonly output: number;
}

export type SaidEnd = 'stop' | 'tool-use' | 'length' | 'filtered';

export interface SaidAnswer {
  readonly said: readonly Said[];
  /** Null: the stream is cut before it says how it ends. */
  readonly end: SaidEnd | null;
  readonly usage?: SaidUsage;
}

/** What an API has to be told of a fault by the suite. */
export interface SaidFault {
  readonly kind: 'overloaded' | 'rate-limited' | 'too-long' | 'logged-out';
  readonly message: string;
}

/** One API as its vendor's servers speak it: the suite says what, the script how. */
export interface WireScript {
  readonly api: string;
  /** Where the request goes, behind the server's address. */
  readonly path: string;
  /** Whether the API can seal reasoning that it does not show. */
  readonly hidesThinking: boolean;
  create(settings: HttpProviderSettings): Provider;
  /** The base URL for a server at that address. */
  baseUrl(address: string): string;
  /** The parts of a stream, one event each. */
  stream(answer: SaidAnswer): string[];
  /** The same answer in one JSON document. */
  whole(answer: SaidAnswer): object;
  /** An event that ends a stream with a fault. */
  fault(fault: SaidFault): string;
  /** The body of an HTTP error. */
  refusal(message: string): object;
  /** What is not part of an answer and may come at any time. */
  readonly noise: readonly string[];
  /** The thinking block's signature that a sealed thought becomes. */
  signature(text: string, seal: string): string;
  /** The key in a request's headers. */
  keyIn(headers: Readonly<Record<string, string | string[] | undefined>>): string | undefined;
  /** What a request's body holds, in the suite's words. */
  seen(body: Readonly<Record<string, unknown>>): SeenRequest;
}

export interface SeenRequest {
  readonly system: string | undefined;
  readonly tools: readonly string[];
  readonly seals: readonly string[];
  readonly calls: Readonly<Record<string, { readonly input: unknown; readonly result: string | undefined }>>;
  readonly texts: readonly string[];
}

export const user = (content: string): AgentContext['messages'][number] => ({ role: 'user', content, timestamp: 1 });
