import { inputOf } from '../lifecycle-inputs.ts';
import { assertNeverLifecycle, type LifecycleEvent, type LifecycleEventOf } from '../lifecycle.ts';
import { AG_UI_VERSION, type AgUiEvent } from './ag-ui-events.ts';
import { agUiInterrupts } from './ag-ui-interrupts.ts';
import { attribution, pathKey, say, sayFrom, wireId, type AgUiSaid, type AgUiState } from './ag-ui-state.ts';
import { enterSubagent, exitSubagent } from './ag-ui-subagents.ts';
import { endRun } from './ag-ui-terminal.ts';
import { answerCall, extendCall, startCall } from './ag-ui-tools.ts';
import { countUsage, usageValue } from './ag-ui-usage.ts';
import type { LegContext } from './lifecycle-encoding.ts';
import { find, put } from './lifecycle-table.ts';

export interface AgUiTranslated {
  readonly state: AgUiState;
  readonly events: readonly AgUiEvent[];
}

/** What a lifecycle event is in AG-UI 1.0, each with the time and the cursor of the event that it comes from. */
export function translateToAgUi(state: AgUiState, event: LifecycleEvent, context: LegContext): AgUiTranslated {
  const said = wordsOf(state, event, context);
  const timestamp = Date.parse(event.timestamp);
  const { deliverySeq } = context;
  const cursor = deliverySeq === undefined ? undefined : { deliverySeq };
  const events = said.words.map((word): AgUiEvent => {
    const metadata = word.metadata === undefined ? cursor : { ...word.metadata, ...cursor };
    return metadata === undefined ? { ...word, timestamp } : { ...word, timestamp, metadata };
  });
  const last = events.at(-1);
  const isEnd = last?.type === 'RUN_FINISHED' || last?.type === 'RUN_ERROR';
  return { state: isEnd ? { ...said.state, terminal: last } : said.state, events };
}

function wordsOf(state: AgUiState, event: LifecycleEvent, context: LegContext): AgUiSaid {
  switch (event.type) {
    case 'run.started': {
      const { threadId = event.conversation_id, runId = event.run_id } = context;
      const run = { threadId, runId };
      return say({ ...state, run }, { type: 'RUN_STARTED', ...run, protocolVersion: AG_UI_VERSION });
    }
    case 'text.started':
      return startText(state, event);
    case 'text.delta': {
      const { message_id, delta } = event.data;
      if (delta === '') return say(state);
      return sayFrom(state, event, { type: 'TEXT_MESSAGE_CONTENT', messageId: wireId.text(message_id), delta });
    }
    case 'text.finished': {
      const messageId = wireId.text(event.data.message_id);
      const texts = state.texts.filter((open) => open.messageId !== messageId);
      return say({ ...state, texts }, { type: 'TEXT_MESSAGE_END', messageId });
    }
    case 'reasoning.started': {
      const open = { messageId: wireId.reasoning(event.data.message_id), ...attribution(state, event.namespace) };
      return sayFrom(
        { ...state, reasonings: [...state.reasonings, open] },
        event,
        { type: 'REASONING_START', ...open },
        { type: 'REASONING_MESSAGE_START', role: 'reasoning', ...open },
      );
    }
    case 'reasoning.delta': {
      const { message_id, delta } = event.data;
      if (delta === '') return say(state);
      const messageId = wireId.reasoning(message_id);
      return sayFrom(state, event, { type: 'REASONING_MESSAGE_CONTENT', messageId, delta });
    }
    case 'reasoning.finished': {
      const messageId = wireId.reasoning(event.data.message_id);
      const reasonings = state.reasonings.filter((open) => open.messageId !== messageId);
      return say(
        { ...state, reasonings },
        { type: 'REASONING_MESSAGE_END', messageId },
        { type: 'REASONING_END', messageId },
      );
    }
    case 'tool.started':
      return startCall(state, event);
    case 'tool.arguments.delta':
      return extendCall(state, event);
    case 'tool.finished': {
      const { result: content, result_ref: resultRef } = event.data;
      return answerCall(state, event, resultRef === undefined ? { content } : { content, metadata: { resultRef } });
    }
    case 'tool.error': {
      const { message: content, code, retryable } = event.data;
      return answerCall(state, event, { content, metadata: { error: { code, retryable } } });
    }
    case 'interrupt.requested':
      return say({ ...state, interrupts: interruptsOf(state, event, context) });
    case 'namespace.entered':
      return enterSubagent(state, event);
    case 'namespace.exited':
      return exitSubagent(state, event);
    case 'warning': {
      const input = inputOf(event.data);
      if (input !== null) return userMessage(state, event, input);
      const value = { ...event.data, namespace: event.namespace };
      return say(state, { type: 'CUSTOM', name: 'WARNING', value, ...attribution(state, event.namespace) });
    }
    case 'usage.updated': {
      const agent = pathKey(event.namespace);
      const usage = put(state.usage, agent, countUsage(find(state.usage, agent) ?? {}, event.data));
      const value = usageValue(event.data);
      const tag = attribution(state, event.namespace);
      return say({ ...state, usage }, { type: 'CUSTOM', name: 'USAGE', value, ...tag });
    }
    case 'run.finished':
    case 'run.interrupted':
    case 'run.cancelled':
    case 'run.error':
      return endRun(state, event);
    case 'provider.metadata':
      return say(state);
    default:
      return assertNeverLifecycle(event);
  }
}

/** What a user has said to the run while it worked: a whole message at once. */
function userMessage(state: AgUiState, event: LifecycleEvent, input: { inputId: string; text: string }): AgUiSaid {
  const messageId = wireId.text(input.inputId);
  return sayFrom(
    state,
    event,
    { type: 'TEXT_MESSAGE_START', role: 'user', messageId },
    { type: 'TEXT_MESSAGE_CONTENT', messageId, delta: input.text },
    { type: 'TEXT_MESSAGE_END', messageId },
  );
}

/** A call is carried by a recent message or by one of its own. */
const RECENT_MESSAGES = 64;

function startText(state: AgUiState, event: LifecycleEventOf<'text.started'>): AgUiSaid {
  const { namespace, data } = event;
  const open = { messageId: wireId.text(data.message_id), ...attribution(state, namespace) };
  const agent = pathKey(namespace);
  const before = find(state.recent, agent) ?? [];
  const recent = put(state.recent, agent, [...before.slice(1 - RECENT_MESSAGES), open.messageId]);
  const opened = { ...state, texts: [...state.texts, open], recent };
  return sayFrom(opened, event, { type: 'TEXT_MESSAGE_START', role: 'assistant', ...open });
}

/** A sub-agent that asks may have left its namespace for the pause: it is known by its agent id. */
function interruptsOf(state: AgUiState, { data }: LifecycleEventOf<'interrupt.requested'>, context: LegContext) {
  const asking = Object.values(state.subagents).findLast(({ agentId }) => agentId === data.agent_id);
  if (asking === undefined) return agUiInterrupts(data, context.agentName);
  const { name, subagentRunId } = asking.start;
  return agUiInterrupts(data, name).map((interrupt) => ({ ...interrupt, subagentRunId }));
}
