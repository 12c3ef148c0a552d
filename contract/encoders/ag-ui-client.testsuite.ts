import { HttpAgent, type Message } from '@ag-ui/client';
import { expect } from 'vitest';
import type { LifecycleEvent, LifecycleType } from '../lifecycle.ts';
import type { AgUiMessage } from './ag-ui-events.ts';
import { advanceAgUiReplay, reopenAgUi, type AgUiReplay } from './ag-ui-reopen.ts';
import { wireId } from './ag-ui-state.ts';
import { agUiEncoder } from './ag-ui.ts';
import { SCENARIO_AGENT } from './lifecycle-scenarios.testsuite.ts';

/** What the real client came to: its messages, how the run ended, and the custom events it was given on the way. */
export interface Seen {
  readonly messages: readonly Message[];
  readonly ending: string | undefined;
  readonly custom: readonly unknown[];
}

export function agentWith(messages: readonly (Message | AgUiMessage)[], url = 'http://unused.invalid/'): HttpAgent {
  return new HttpAgent({ url, threadId: 'thr_1', initialMessages: structuredClone(messages) as Message[] });
}

/** Gives the frames to the client, as the body of one response. */
export async function read(agent: HttpAgent, frames: readonly string[]): Promise<Seen> {
  const headers = { 'content-type': 'text/event-stream; charset=utf-8' };
  agent.fetch = () => Promise.resolve(new Response(frames.join(''), { headers }));
  return run(agent);
}

export async function run(agent: HttpAgent): Promise<Seen> {
  let ending: string | undefined;
  const custom: unknown[] = [];
  await agent.runAgent(undefined, {
    onRunFinishedEvent: ({ event, outcome }) => {
      expect(ending).toBeUndefined();
      ending = JSON.stringify([event.threadId, event.runId, outcome, event.outcome, event.usage]);
    },
    onRunErrorEvent: ({ event }) => {
      expect(ending).toBeUndefined();
      ending = JSON.stringify([event.code, event.message]);
    },
    onCustomEvent: ({ event }) => void custom.push([event.name, event.value]),
  });
  return { messages: agent.messages, ending, custom };
}

/** The lifecycle type of an ending that was seen. */
export function endingOf({ ending }: Seen): LifecycleType | undefined {
  if (ending === undefined) return undefined;
  const [, , outcome] = JSON.parse(ending) as unknown[];
  const known: Record<string, LifecycleType> = {
    success: 'run.finished',
    interrupt: 'run.interrupted',
    cancelled: 'run.cancelled',
  };
  return known[String(outcome)] ?? 'run.error';
}

const contextOf = (event: LifecycleEvent) => ({ agentName: SCENARIO_AGENT, deliverySeq: event.sequence + 1 });

/** The frames of events that go on from where a replay stands. */
export function framesOf(events: readonly LifecycleEvent[], from: AgUiReplay): string[] {
  const frames: string[] = [];
  let { state } = from;
  for (const event of events) {
    const encoded = agUiEncoder.encode(state, event, contextOf(event));
    state = encoded.state;
    frames.push(...encoded.frames);
  }
  return frames;
}

/** A replay that went on over events; its state survives as JSON. */
export function replayOf(events: readonly LifecycleEvent[], from: AgUiReplay): AgUiReplay {
  const batch = events.map((event) => ({ event, context: contextOf(event) }));
  return JSON.parse(JSON.stringify(advanceAgUiReplay(from, batch))) as AgUiReplay;
}

/**
 * Comes back after `cursor` events: as a client that holds the thread up to the leg, as those that were there until the cursor and
 * until half of it, and as one that holds nothing.
 */
export async function comesBack(events: readonly LifecycleEvent[], start: AgUiReplay, cursor: number): Promise<Seen[]> {
  const replay = replayOf(events.slice(0, cursor), start);
  const frames = [...reopenAgUi(replay, cursor), ...framesOf(events.slice(cursor), replay)];
  const all = [await read(agentWith(start.messages), frames)];
  if (cursor === 0) return all;
  for (const until of [cursor, Math.floor(cursor / 2)]) {
    const stayed = agentWith(start.messages);
    if (until > 0) await read(stayed, framesOf(events.slice(0, until), start));
    stayed.pendingInterrupts = [];
    all.push(await read(stayed, frames));
  }
  return [...all, await read(agentWith([]), frames)];
}

/** The conversation says what the leg says: texts and reasoning joined, calls with their arguments, results. */
export function expectMeaning(messages: readonly Message[], events: readonly LifecycleEvent[]): void {
  const of = <T extends LifecycleType>(...types: T[]) =>
    events.filter((event): event is Extract<LifecycleEvent, { type: T }> => (types as string[]).includes(event.type));
  const joined = (id: string, type: 'text.delta' | 'reasoning.delta') =>
    of(type)
      .map(({ data }) => (data.message_id === id ? data.delta : ''))
      .join('');
  const withId = (id: string) => messages.find((message) => message.id === id);

  for (const { data } of of('text.started')) {
    const message = withId(wireId.text(data.message_id));
    expect(message?.role).toBe('assistant');
    expect(message?.content ?? '').toBe(joined(data.message_id, 'text.delta'));
  }
  for (const { data } of of('reasoning.started')) {
    const message = withId(wireId.reasoning(data.message_id));
    expect(message).toMatchObject({ role: 'reasoning', content: joined(data.message_id, 'reasoning.delta') });
  }
  const calls = messages.flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []) : []));
  expect(calls).toHaveLength(of('tool.started').length);
  for (const { data } of of('tool.started')) {
    const call = calls.find(({ id }) => id === data.tool_call_id);
    expect(call?.function.name).toBe(data.tool_name);
    const given = JSON.stringify(data.arguments);
    const streamed = of('tool.arguments.delta').map((delta) => delta.data);
    const text = streamed.map(({ tool_call_id, delta }) => (tool_call_id === data.tool_call_id ? delta : '')).join('');
    if (given !== '{}' || text === '') expect(call?.function.arguments).toBe(given);
    else expect(text.startsWith(call?.function.arguments ?? '?')).toBe(true);
  }
  const results = messages.filter((message) => message.role === 'tool');
  expect(results).toHaveLength(of('tool.finished', 'tool.error').length);
  for (const { type, data } of of('tool.finished', 'tool.error')) {
    const result = results.find(({ toolCallId }) => toolCallId === data.tool_call_id);
    expect(result?.content).toBe(type === 'tool.error' ? data.message : data.result);
  }
  expect(new Set(messages.map(({ id }) => id)).size).toBe(messages.length);
}
