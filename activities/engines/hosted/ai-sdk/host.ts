import type { HostEnd, HostOpening } from '../host-protocol.ts';
import { AgentRefusal, type HostedAgent, type ToolOutput, type TurnLine, type UserModule } from '../hosted-agent.ts';
import { plainError, plainJson } from '../plain-json.ts';
import { textOf } from '../shown-value.ts';
import { AwaitedParty } from '../../awaited-party.ts';
import { fitted } from '../../wire/frame-fit.ts';
import { isAgent, type AiSdkAgent, type ModelMessage, type StreamPart, type StreamResult } from './agent-shape.ts';
import { answerMessage, questionOf, type OutputSchemas } from './asked-calls.ts';
import { withoutOpenCalls } from './open-calls.ts';
import { outputSchemasOf } from './output-schemas.ts';
import { framesOfPart } from './part-frames.ts';
import { SessionFile } from './session-file.ts';
import { StreamedStep, type AskedCall } from './streamed-step.ts';
import { stopReasonOf } from './stop-reason.ts';

/** Of a long text so much may be forgotten with the process. */
const SAVED_EVERY_CHARS = 2_000;

/** Opens an agent of the AI SDK: `ToolLoopAgent`, or what streams like it. */
export async function openAiSdkAgent(module: UserModule, opening: HostOpening): Promise<HostedAgent> {
  const { agent } = module;
  if (!isAgent(agent)) {
    throw new AgentRefusal(
      'its module exports no agent of the AI SDK',
      'an agent has a method stream({ messages, abortSignal })',
    );
  }
  const { file, saved } = await SessionFile.take(opening.sessions, opening.known);
  const { runId } = opening;
  const conversation = new Conversation(file, runId, saved?.messages ?? []);
  if (saved === null) await conversation.save();
  const isOwn = saved?.runId === runId;
  const turn = new AiSdkTurn(agent, conversation, {
    schemas: await outputSchemasOf(agent, module),
    pending: isOwn ? saved.asked : [],
    undecided: new Set(saved?.asked.map(({ toolCallId }) => toolCallId)),
  });
  return {
    nativeSessionId: file.id,
    resumed: saved !== null,
    resumable: true,
    turn: (text, line) => turn.play(text, line),
  };
}

/** The messages so far, and the file that has them. */
class Conversation {
  messages: ModelMessage[];
  readonly #file: SessionFile;
  readonly #runId: string;

  constructor(file: SessionFile, runId: string, messages: readonly ModelMessage[]) {
    this.#file = file;
    this.#runId = runId;
    this.messages = [...messages];
  }

  /** Saves it with what a stream has said beside it, and what is asked. */
  async save(more: { streamed?: readonly ModelMessage[]; asked?: readonly AskedCall[] } = {}): Promise<void> {
    const messages = [...this.messages, ...(more.streamed ?? [])];
    await this.#file.save({ version: 1, runId: this.#runId, messages, asked: more.asked ?? [] });
  }
}

/** What the agent is told next, and the calls that run by it. */
interface Added {
  readonly message: ModelMessage;
  readonly approved: readonly string[];
}

interface Earlier {
  readonly schemas: OutputSchemas;
  /** What this same turn has asked, in a process before this one. */
  readonly pending: readonly AskedCall[];
  /** What any turn before has asked, and nobody has decided. */
  readonly undecided: ReadonlySet<string>;
}

/**
 * One turn: the agent streams; what it leaves open a person decides; it streams again, until nothing is open.
 *
 * A turn that stopped at a question goes on there, with no word of it to the model. One that stopped anywhere else is told so, and
 * the calls that were under way have a result that says that nobody knows.
 */
class AiSdkTurn {
  readonly #agent: AiSdkAgent;
  readonly #conversation: Conversation;
  readonly #earlier: Earlier;

  constructor(agent: AiSdkAgent, conversation: Conversation, earlier: Earlier) {
    this.#agent = agent;
    this.#conversation = conversation;
    this.#earlier = earlier;
  }

  async play(text: string, line: TurnLine): Promise<HostEnd> {
    const { pending, undecided } = this.#earlier;
    let added: Added | null;
    if (pending.length > 0) {
      added = await this.#decided(pending, line);
    } else {
      this.#conversation.messages = withoutOpenCalls(this.#conversation.messages, undecided);
      added = { message: { role: 'user', content: text }, approved: [] };
    }
    while (added !== null) {
      const { message, approved } = added;
      this.#conversation.messages.push(message);
      await this.#conversation.save();
      await line.frame(fitted({ type: 'prompt', dir: 'send', messages: [message] }));
      const streamed = await this.#streamed(line, new StreamedStep(approved));
      if ('outcome' in streamed) return streamed;
      const asked = streamed.asked();
      await this.#conversation.save({ asked });
      if (asked.length === 0) return endOf(streamed);
      added = await this.#decided(asked, line);
    }
    return { outcome: 'cancelled' };
  }

  async #decided(asked: readonly AskedCall[], line: TurnLine): Promise<Added | null> {
    const { schemas } = this.#earlier;
    const answers = await line.ask(asked.map((call) => questionOf(call, schemas)));
    if (answers === null) return null;
    const approved = asked.filter((_, i) => answers[i]?.status === 'approved').map(({ toolCallId }) => toolCallId);
    return { message: answerMessage(asked, answers, schemas), approved };
  }

  /** One stream, to its end; what it said is in the conversation then. */
  async #streamed(line: TurnLine, step: StreamedStep): Promise<StreamedStep | HostEnd> {
    const { signal } = line;
    const conversation = this.#conversation;
    const awaited = new AwaitedParty((who) => line.awaits(who));
    let savedChars = 0;
    let exact: readonly ModelMessage[] | null = null;
    let end: HostEnd | null = null;
    awaited.update({ isOneOpen: step.running.size > 0 });
    try {
      const result = (await this.#agent.stream({
        messages: conversation.messages,
        abortSignal: signal,
      })) as StreamResult;
      for await (const part of streamOf(result)) {
        step.take(part);
        awaited.update({ isOneOpen: step.running.size > 0 });
        const isGrown = step.chars - savedChars >= SAVED_EVERY_CHARS;
        if (isGrown || part.type === 'tool-call' || part.type === 'tool-result') {
          // before a tool works, and when it has: what it did is not forgotten with this process
          await conversation.save({ streamed: step.messages });
          savedChars = step.chars;
        }
        for (const frame of framesOfPart(part)) await line.frame(frame, outputOf(part));
      }
      await line.frame({ type: 'end', dir: 'recv' });
      if (step.isAborted || signal.aborted) end = { outcome: 'cancelled' };
      else if (step.fault !== null) end = { outcome: 'failed', message: step.fault };
      else exact = await messagesOf(result);
    } catch (error) {
      const { name, message } = plainError(error);
      await line.frame({ type: 'throw', dir: 'recv', name, message });
      end = signal.aborted ? { outcome: 'cancelled' } : { outcome: 'failed', message };
    } finally {
      awaited.update({ isOneOpen: false });
    }
    conversation.messages.push(...(exact ?? step.messages));
    if (end === null) return step;
    conversation.messages = withoutOpenCalls(conversation.messages, new Set());
    await conversation.save();
    return end;
  }
}

function streamOf({ stream, fullStream }: StreamResult): AsyncIterable<StreamPart> {
  const parts = stream ?? fullStream;
  if (parts === undefined) throw new Error('what the agent streams has no fullStream');
  return parts;
}

/** As the library makes them, with what only it knows of them; null from an agent that does not say them. */
async function messagesOf(result: StreamResult): Promise<readonly ModelMessage[] | null> {
  return (await result.responseMessages) ?? (await result.response)?.messages ?? null;
}

function endOf({ finishReason }: StreamedStep): HostEnd {
  if (finishReason === 'error') return { outcome: 'failed', message: 'the model ended with an error' };
  return { outcome: 'completed', stopReason: stopReasonOf(finishReason ?? 'stop') };
}

/** What a tool has come to; what is preliminary is not kept. */
function outputOf({ type, toolName, output, preliminary }: StreamPart): ToolOutput | null {
  if (type !== 'tool-result' || preliminary === true) return null;
  return { toolName: String(toolName), text: textOf(plainJson(output)) };
}
