import type { AgUiEvent, AgUiMessage, AgUiMetadata } from './ag-ui-events.ts';

interface Draft {
  readonly id: string;
  readonly role: AgUiMessage['role'];
  content?: string | readonly object[];
  toolCalls?: DraftCall[];
  toolCallId?: string;
  subagentRunId?: string;
  metadata?: AgUiMetadata;
}

interface DraftCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { name: string; arguments: string };
  metadata?: AgUiMetadata;
}

/**
 * The conversation as a client holds it after these events: the reducer of `@ag-ui/client` 1.0, for the events that a leg says.
 * A snapshot is none of them: it is made from this.
 *
 * **Contract:** pure; what was given is not changed. Ids are unique within `before`.
 */
export function foldAgUiMessages(before: readonly AgUiMessage[], events: Iterable<AgUiEvent>): readonly AgUiMessage[] {
  const conversation = new Conversation(before);
  for (const event of events) conversation.apply(event);
  return conversation.messages as readonly AgUiMessage[];
}

/** Lives for one fold, so that a long batch costs one copy and not one for every event. */
class Conversation {
  readonly messages: Draft[];
  readonly #byId = new Map<string, Draft>();
  readonly #carriers = new Map<string, Draft>();

  constructor(before: readonly AgUiMessage[]) {
    this.messages = before.map(draft);
    for (const message of this.messages) {
      this.#byId.set(message.id, message);
      for (const call of message.toolCalls ?? []) this.#carriers.set(call.id, message);
    }
  }

  apply(event: AgUiEvent): void {
    switch (event.type) {
      case 'TEXT_MESSAGE_START':
        addMetadata(this.#open(event.messageId, event.role, event.subagentRunId), event.metadata);
        break;
      case 'REASONING_MESSAGE_START':
        addMetadata(this.#open(event.messageId, 'reasoning', event.subagentRunId), event.metadata);
        break;
      case 'TEXT_MESSAGE_CONTENT':
      case 'REASONING_MESSAGE_CONTENT': {
        const message = this.#byId.get(event.messageId);
        if (message === undefined) break;
        message.content = `${typeof message.content === 'string' ? message.content : ''}${event.delta}`;
        addMetadata(message, event.metadata);
        break;
      }
      case 'TEXT_MESSAGE_END':
      case 'REASONING_MESSAGE_END':
        addMetadata(this.#byId.get(event.messageId), event.metadata);
        break;
      case 'TOOL_CALL_START':
        this.#startCall(event);
        break;
      case 'TOOL_CALL_ARGS': {
        const call = this.#call(event.toolCallId);
        if (call !== undefined) call.function.arguments += event.delta;
        addMetadata(call, event.metadata);
        break;
      }
      case 'TOOL_CALL_END':
        addMetadata(this.#call(event.toolCallId), event.metadata);
        break;
      case 'TOOL_CALL_RESULT':
        this.#answer(event);
        break;
      case 'RUN_STARTED':
      case 'RUN_FINISHED':
      case 'RUN_ERROR':
      case 'REASONING_START':
      case 'REASONING_END':
      case 'SUBAGENT_STARTED':
      case 'SUBAGENT_FINISHED':
      case 'SUBAGENT_ERROR':
      case 'CUSTOM':
      case 'MESSAGES_SNAPSHOT':
        break;
    }
  }

  #open(id: string, role: 'assistant' | 'user' | 'reasoning', subagentRunId: string | undefined): Draft {
    const known = this.#byId.get(id);
    return known ?? this.#add({ id, role, content: '', ...(subagentRunId === undefined ? {} : { subagentRunId }) });
  }

  #startCall(event: Extract<AgUiEvent, { type: 'TOOL_CALL_START' }>): void {
    const { toolCallId: id, toolCallName: name, parentMessageId, subagentRunId, metadata } = event;
    let call = this.#call(id);
    if (call === undefined) {
      const tag = subagentRunId === undefined ? {} : { subagentRunId };
      const carrier = this.#byId.get(parentMessageId) ?? this.#add({ id: parentMessageId, role: 'assistant', ...tag });
      call = { id, type: 'function', function: { name, arguments: '' } };
      carrier.toolCalls = [...(carrier.toolCalls ?? []), call];
      this.#carriers.set(id, carrier);
    }
    addMetadata(call, metadata);
  }

  /** A result stands behind the message that carries its call, after the results that are there already. */
  #answer(event: Extract<AgUiEvent, { type: 'TOOL_CALL_RESULT' }>): void {
    const { messageId: id, toolCallId, content, subagentRunId, metadata } = event;
    const message: Draft = { id, role: 'tool', toolCallId, content };
    if (subagentRunId !== undefined) message.subagentRunId = subagentRunId;
    addMetadata(message, metadata);
    const carrier = this.#carriers.get(toolCallId);
    if (carrier === undefined) {
      this.#add(message);
      return;
    }
    let at = this.messages.indexOf(carrier) + 1;
    while (this.messages[at]?.role === 'tool') at += 1;
    this.messages.splice(at, 0, message);
    this.#byId.set(id, message);
  }

  #add(message: Draft): Draft {
    this.messages.push(message);
    this.#byId.set(message.id, message);
    return message;
  }

  #call(id: string): DraftCall | undefined {
    return this.#carriers.get(id)?.toolCalls?.find((call) => call.id === id);
  }
}

function draft(message: AgUiMessage): Draft {
  if (message.role !== 'assistant' || message.toolCalls === undefined) return { ...message } as Draft;
  const toolCalls = message.toolCalls.map((call) => ({ ...call, function: { ...call.function } }));
  return { ...message, toolCalls };
}

function addMetadata(target: { metadata?: AgUiMetadata } | undefined, metadata: AgUiMetadata | undefined): void {
  if (target !== undefined && metadata !== undefined) target.metadata = { ...target.metadata, ...metadata };
}
