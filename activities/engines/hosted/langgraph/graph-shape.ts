/** What of LangGraph a host touches, of its version 1; a module brings the library's own types. */
export interface Graph {
  stream(input: unknown, options: Readonly<Record<string, unknown>>): PromiseLike<AsyncIterable<StreamChunk>>;
  streamEvents?(input: unknown, options: Readonly<Record<string, unknown>>): PromiseLike<AsyncIterable<ProtocolEvent>>;
}

/** The compiled graph of an agent, which knows its threads. */
export interface StateGraph extends Graph {
  getState(config: ThreadConfig, options?: { readonly subgraphs: boolean }): Promise<GraphState>;
  /** Not there in a graph that is somewhere else; false where it was switched off. */
  checkpointer?: unknown;
  readonly channels?: Readonly<Record<string, { readonly lc_graph_name?: string }>>;
}

export interface ThreadConfig {
  readonly configurable: Readonly<Record<string, string>>;
}

/** With `subgraphs`, one of several modes. */
export type StreamChunk = readonly [namespace: readonly string[], mode: string, chunk: unknown];

export interface ProtocolEvent {
  readonly method: string;
  readonly seq: number;
  readonly params: Readonly<Record<string, unknown>>;
}

export interface GraphState {
  readonly values: Readonly<Record<string, unknown>>;
  readonly createdAt?: string;
  readonly tasks: readonly GraphTask[];
}

export interface GraphTask {
  readonly interrupts?: readonly Interrupt[];
  /** Of a subgraph, when it was asked for. */
  readonly state?: unknown;
}

export interface Interrupt {
  readonly id?: string;
  readonly value?: unknown;
}

export function isGraph(value: unknown): value is Graph {
  return isObject(value) && typeof value['stream'] === 'function';
}

function isStateGraph(value: unknown): value is StateGraph {
  return isGraph(value) && typeof (value as { getState?: unknown }).getState === 'function';
}

/** The graph inside an agent that wraps one, as those of `langchain` and `deepagents` do; null: there is none. */
export function graphOf(agent: unknown): StateGraph | null {
  const inner = isObject(agent) ? agent['graph'] : undefined;
  if (isStateGraph(inner)) return inner;
  return isStateGraph(agent) ? agent : null;
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
