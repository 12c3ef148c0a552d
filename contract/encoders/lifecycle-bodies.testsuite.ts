import type { LifecycleBody, LifecycleEvent } from '../lifecycle.ts';

/** Puts bodies into envelopes: a second apart, and half a one between the first two. A list of `[namespace, body]` also goes. */
export function leg(
  bodies: readonly (LifecycleBody | readonly [readonly string[], LifecycleBody])[],
  runId = 'run_1',
): LifecycleEvent[] {
  return bodies.map((entry, sequence) => {
    const [namespace, body] = 'type' in entry ? [[], entry] : entry;
    const timestamp = new Date(Date.UTC(2026, 7, 17) + (sequence === 1 ? 500 : sequence * 1000)).toISOString();
    const head = { version: 1, run_id: runId, conversation_id: 'thr_1', sequence, timestamp } as const;
    return { ...head, namespace, ...body } as LifecycleEvent;
  });
}

export const begin: LifecycleBody = {
  type: 'run.started',
  data: { harness_id: 'builtin', adapter_version: '1.0.0' },
};

export const finish: LifecycleBody = {
  type: 'run.finished',
  data: {
    outcome: 'success',
    stop_reason: 'end_turn',
    thread_state: { durability: 'committed', durable_revision: 8, head_ref: 'head_8' },
  },
};

export function textStart(message_id: string): LifecycleBody {
  return { type: 'text.started', data: { message_id, role: 'assistant' } };
}

export function textDelta(message_id: string, delta: string): LifecycleBody {
  return { type: 'text.delta', data: { message_id, delta } };
}

export function textEnd(message_id: string): LifecycleBody {
  return { type: 'text.finished', data: { message_id } };
}

export function text(message_id: string, ...deltas: string[]): LifecycleBody[] {
  return [textStart(message_id), ...deltas.map((delta) => textDelta(message_id, delta)), textEnd(message_id)];
}

export function reasoning(message_id: string, ...deltas: string[]): LifecycleBody[] {
  return [
    { type: 'reasoning.started', data: { message_id } },
    ...deltas.map((delta): LifecycleBody => ({ type: 'reasoning.delta', data: { message_id, delta } })),
    { type: 'reasoning.finished', data: { message_id } },
  ];
}

export function toolStart(
  tool_call_id: string,
  tool_name: string,
  args: Record<string, unknown> = {},
  parent_message_id?: string,
): LifecycleBody {
  const parent = parent_message_id === undefined ? {} : { parent_message_id };
  return { type: 'tool.started', data: { tool_call_id, tool_name, arguments: args, ...parent } };
}

export function toolArgs(tool_call_id: string, delta: string): LifecycleBody {
  return { type: 'tool.arguments.delta', data: { tool_call_id, delta } };
}

export function toolEnd(tool_call_id: string, result: string): LifecycleBody {
  return { type: 'tool.finished', data: { tool_call_id, result } };
}

export function toolError(tool_call_id: string, message: string): LifecycleBody {
  return { type: 'tool.error', data: { tool_call_id, code: 'tool_error', message, retryable: false } };
}

export function usage(input_tokens: number, output_tokens: number): LifecycleBody {
  return {
    type: 'usage.updated',
    data: { input_tokens, output_tokens, cached_input_tokens: null, cost: null, currency: null, final: false },
  };
}

export function within(namespace: readonly string[], ...bodies: LifecycleBody[]) {
  return bodies.map((body) => [namespace, body] as const);
}

export function enter(namespace: readonly string[], parent_tool_call_id: string, agent_id: string, agent_name: string) {
  return [namespace, { type: 'namespace.entered', data: { agent_id, agent_name, parent_tool_call_id } }] as const;
}

export function exit(
  namespace: readonly string[],
  parent_tool_call_id: string,
  agent_id: string,
  outcome: 'success' | 'interrupted' | 'error',
) {
  return [namespace, { type: 'namespace.exited', data: { agent_id, parent_tool_call_id, outcome } }] as const;
}

export function pause(reason: 'human_input' | 'tool_approval'): LifecycleBody {
  return { type: 'run.interrupted', data: { interrupt_id: 'int_1', reason } };
}

export type Gated = readonly [string, string, Record<string, unknown>];

export function approvals(calls: readonly Gated[], agent_id = 'agent_ada'): LifecycleBody {
  return {
    type: 'interrupt.requested',
    data: {
      interrupt_id: 'int_1',
      interrupt_type: 'tool_approval',
      agent_id,
      tool_approvals: calls.map(([tool_call_id, tool_name, tool_args]) => ({
        ...{ tool_call_id, tool_name, tool_args },
        allowed_decisions: ['approve', 'edit', 'reject'],
      })),
    },
  };
}
