import { randomUUID } from 'node:crypto';
import { AwaitedParty } from '../../awaited-party.ts';
import type { HostEnd, HostOpening } from '../host-protocol.ts';
import { AgentRefusal, type HostedAgent, type TurnLine, type UserModule } from '../hosted-agent.ts';
import { plainError } from '../plain-json.ts';
import { fitted } from '../../wire/frame-fit.ts';
import { graphOf, isGraph, type Graph, type GraphState, type Interrupt, type StateGraph } from './graph-shape.ts';
import { listen, type Listened } from './graph-stream.ts';
import { askedBy, resumeOf } from './interrupts.ts';
import { KeptThread, type MemorySaver } from './kept-thread.ts';
import { LastRun } from './last-run.ts';
import { openCallsOf, openIn } from './open-calls.ts';

/** LangGraph, as a module has it. */
interface Library {
  readonly Command: new (command: { readonly resume: unknown }) => unknown;
  readonly MemorySaver: new () => MemorySaver;
}

const LIBRARY = '@langchain/langgraph';
const UNKNOWN = 'It is not known whether this call took effect: it was stopped in the middle.';
const NOT_RUN = 'This call was not run: nobody has decided on it.';

/** What this host has made. */
const THREAD_ID = /^[0-9a-f-]{36}$/;

/** Opens a compiled graph of LangGraph, or an agent that is one: of `langchain`, of `deepagents`. */
export async function openLangGraphAgent(module: UserModule, opening: HostOpening): Promise<HostedAgent> {
  const { agent } = module;
  const graph = graphOf(agent);
  if (graph === null) throw new AgentRefusal('its module exports no graph', 'a compiled graph has stream and getState');
  const library = (await module.importLibrary(LIBRARY)) as Library;
  const threadId = opening.known !== null && THREAD_ID.test(opening.known) ? opening.known : randomUUID();
  const kept = await keptThread(graph, library, { threadId, folder: opening.sessions });
  const isKept = graph.checkpointer !== false;
  const lastRun = await LastRun.of(opening.sessions, threadId);
  const turn = new GraphTurn(
    { agent: isGraph(agent) ? agent : graph, graph, library, kept, lastRun },
    { threadId, opening, isKept },
  );
  const resumed = opening.known === threadId && (await turn.isKnown());
  return {
    nativeSessionId: threadId,
    resumed,
    resumable: isKept,
    turn: (text, line) => turn.play(text, line),
  };
}

/** Null: the graph has a checkpointer that outlives this process, or wants none. */
async function keptThread(
  graph: StateGraph,
  { MemorySaver }: Library,
  { threadId, folder }: { threadId: string; folder: string },
): Promise<KeptThread | null> {
  if (!('checkpointer' in graph) || graph.checkpointer === false) return null;
  const { checkpointer } = graph;
  const isInMemory = checkpointer === undefined || checkpointer === null || checkpointer === true;
  if (!isInMemory && checkpointer.constructor !== MemorySaver) return null;
  const kept = await KeptThread.take(folder, threadId, new MemorySaver());
  graph.checkpointer = kept.saver;
  return kept;
}

interface Parts {
  /** What streams. */
  readonly agent: Graph;
  /** What knows the thread. */
  readonly graph: StateGraph;
  readonly library: Library;
  readonly kept: KeptThread | null;
  readonly lastRun: LastRun;
}

/**
 * One turn: the graph streams until it is interrupted; a person decides; it is resumed, until nothing interrupts it.
 *
 * A turn that stopped at an interrupt goes on there, with no word of it to the model. One that stopped anywhere else is told so, and
 * the calls that were under way have a result that says that nobody knows: no task is run a second time by itself.
 */
class GraphTurn {
  readonly #parts: Parts;
  readonly #opening: HostOpening;
  readonly #isKept: boolean;
  readonly #config: { readonly configurable: Readonly<Record<string, string>> };

  constructor(
    parts: Parts,
    { threadId, opening, isKept }: { threadId: string; opening: HostOpening; isKept: boolean },
  ) {
    this.#parts = parts;
    this.#opening = opening;
    this.#isKept = isKept;
    this.#config = { configurable: { thread_id: threadId } };
  }

  async isKnown(): Promise<boolean> {
    return (await this.#state())?.createdAt !== undefined;
  }

  async play(text: string, line: TurnLine): Promise<HostEnd> {
    const before = await this.#state();
    const pending = before === null ? [] : interruptsOf(before);
    const { lastRun } = this.#parts;
    const isOwn = lastRun.id === this.#opening.runId;
    await lastRun.note(this.#opening.runId);
    let input: GraphInput | null =
      before !== null && isOwn && pending.length > 0
        ? await this.#decided(before, pending, line)
        : { messages: [...closings(before), { role: 'user', content: text }] };
    while (input !== null) {
      await line.frame(fitted({ type: 'input', dir: 'send', ...{ input: shownInput(input) } }));
      const end = await this.#streamed(input, line);
      if (end !== null) return end;
      const state = await this.#state();
      const interrupts = state === null ? [] : interruptsOf(state);
      if (state === null || interrupts.length === 0) {
        await this.#parts.kept?.prune(this.#parts.graph);
        return { outcome: 'completed', stopReason: 'end_turn' };
      }
      input = await this.#decided(state, interrupts, line);
    }
    return { outcome: 'cancelled' };
  }

  async #decided(state: GraphState, interrupts: readonly Interrupt[], line: TurnLine): Promise<GraphInput | null> {
    const asked = askedBy(interrupts, openCallsOf(state));
    const answers = await line.ask(asked.flatMap(({ questions }) => questions));
    return answers === null ? null : { resume: resumeOf(asked, answers) };
  }

  /** One stream, to its end; null: it has ended, and the thread's state says whether the turn has. */
  async #streamed(input: GraphInput, line: TurnLine): Promise<HostEnd | null> {
    const { agent, library } = this.#parts;
    const { signal } = line;
    const awaited = new AwaitedParty((who) => line.awaits(who));
    const open = new Set<string>();
    const take = async ({ frames, started, ended, output }: Listened): Promise<void> => {
      if (started !== null) open.add(started);
      if (ended !== null) open.delete(ended);
      awaited.update({ isOneOpen: open.size > 0 });
      for (const frame of frames) await line.frame(frame, output);
    };
    try {
      const given = 'resume' in input ? new library.Command(input) : input;
      const isByEvents = this.#opening.options['events'] === 'v3';
      for await (const heard of listen(agent, given, { ...this.#config, signal, durability: 'sync' }, isByEvents))
        await take(heard);
      await line.frame({ type: 'end', dir: 'recv' });
      return signal.aborted ? { outcome: 'cancelled' } : null;
    } catch (error) {
      const { name, message } = plainError(error);
      await line.frame({ type: 'throw', dir: 'recv', name, message });
      return signal.aborted ? { outcome: 'cancelled' } : { outcome: 'failed', message };
    } finally {
      awaited.update({ isOneOpen: false });
    }
  }

  async #state(): Promise<GraphState | null> {
    return this.#isKept ? await this.#parts.graph.getState(this.#config, { subgraphs: true }) : null;
  }
}

type GraphInput = { readonly messages: readonly Readonly<Record<string, string>>[] } | { readonly resume: unknown };

/** Of messages only what is new to the reader of a lane: the person's. */
function shownInput(input: GraphInput): GraphInput {
  return 'resume' in input ? input : { messages: input.messages.slice(-1) };
}

function interruptsOf({ tasks }: GraphState): Interrupt[] {
  return tasks.flatMap(({ interrupts }) => interrupts ?? []);
}

/** A result for each call that a turn before has left without one: a model does not take its messages otherwise. */
function closings(before: GraphState | null): Readonly<Record<string, string>>[] {
  if (before === null) return [];
  const content = interruptsOf(before).length > 0 ? NOT_RUN : UNKNOWN;
  return openIn(before.values['messages']).map(({ id, name }) => ({ role: 'tool', tool_call_id: id, name, content }));
}
