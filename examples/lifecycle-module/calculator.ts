import type {
  LifecycleDecision,
  LifecycleRequest,
  LifecycleResume,
} from '../../activities/engines/lifecycle/adapter.ts';
import type { LifecycleBody, LifecycleEvent } from '../../contract/lifecycle.ts';

/**
 * An agent without a model: it finds a product such as `12 * 7` in what it is told, asks whether it may multiply, and says the result.
 * An adapter of the `lifecycle` engine is a module with these exports; see `LifecycleAdapter`.
 */
interface Sum {
  readonly callId: string;
  readonly factors: readonly number[];
}

/** Sums that wait for an answer, by interrupt. In memory: a conversation does not outlive this process. */
const waiting = new Map<string, Sum>();

export async function* stream(
  request: LifecycleRequest,
  { signal }: { readonly signal: AbortSignal },
): AsyncGenerator<LifecycleEvent> {
  const say = speaker(request);
  yield say({ type: 'run.started', data: { harness_id: 'calculator', adapter_version: '1.0.0' } });
  const product = /(\d+)\s*[*x]\s*(\d+)/.exec(request.input);
  if (product === null) {
    yield* sentence(say, 'Give me a product, such as 12 * 7.');
    yield say(finished());
    return;
  }
  yield* sentence(say, `You want ${product[0]}.`);
  if (signal.aborted) {
    yield say(cancelled());
    return;
  }
  const sum = { callId: `multiply-${request.run_id}`, factors: product.slice(1, 3).map(Number) };
  const args = { factors: sum.factors };
  yield say({ type: 'tool.started', data: { tool_call_id: sum.callId, tool_name: 'multiply', arguments: args } });
  const interrupt_id = `ask-${request.run_id}`;
  waiting.set(interrupt_id, sum);
  const call = { tool_call_id: sum.callId, tool_name: 'multiply', tool_args: args };
  yield say({
    type: 'interrupt.requested',
    data: {
      interrupt_id,
      interrupt_type: 'tool_approval',
      agent_id: 'calculator',
      tool_approvals: [{ ...call, allowed_decisions: ['approve', 'edit', 'reject'] }],
    },
  });
  yield say({ type: 'run.interrupted', data: { interrupt_id, reason: 'tool_approval' } });
}

export async function* resume(request: LifecycleResume): AsyncGenerator<LifecycleEvent> {
  const say = speaker(request);
  yield say({ type: 'run.started', data: { harness_id: 'calculator', adapter_version: '1.0.0' } });
  const sum = waiting.get(request.interrupt_id);
  waiting.delete(request.interrupt_id);
  if (sum === undefined) {
    yield say({
      type: 'run.error',
      data: {
        code: 'unknown_interrupt',
        message: 'the question is not known',
        retryable: false,
        side_effect_status: 'none',
      },
    });
    return;
  }
  const { callId } = sum;
  const args = { factors: sum.factors };
  yield say({ type: 'tool.started', data: { tool_call_id: callId, tool_name: 'multiply', arguments: args } });
  const factors = allowed(sum, request.resume);
  if (factors === null) {
    const rejected = { code: 'rejected', message: 'a person said no', retryable: false };
    yield say({ type: 'tool.error', data: { tool_call_id: callId, ...rejected } });
    yield* sentence(say, 'Then I leave it.');
  } else {
    const result = String(factors.reduce((product, factor) => product * factor, 1));
    yield say({ type: 'tool.finished', data: { tool_call_id: callId, result } });
    yield* sentence(say, `It is ${result}.`);
  }
  yield say(finished());
}

export function cancel({ run_id }: { readonly run_id: string }): void {
  waiting.delete(`ask-${run_id}`);
}

/** What may be multiplied; null: nothing. */
function allowed(sum: Sum, decision: LifecycleDecision): readonly number[] | null {
  if (decision.type !== 'tool_approval') return null;
  const [first] = decision.decisions;
  if (first?.decision === 'approve') return sum.factors;
  const edited = first?.edited_args?.['factors'];
  return first?.decision === 'edit' && Array.isArray(edited) ? edited.map(Number) : null;
}

type Say = (body: LifecycleBody) => LifecycleEvent;

/** Gives each event its envelope. */
function speaker({ run_id, conversation_id }: { readonly run_id: string; readonly conversation_id: string }): Say {
  let sequence = 0;
  return (body) =>
    ({
      version: 1,
      type: body.type,
      run_id,
      conversation_id,
      sequence: sequence++,
      timestamp: new Date().toISOString(),
      namespace: [],
      data: body.data,
    }) as LifecycleEvent;
}

function* sentence(say: Say, text: string): Generator<LifecycleEvent> {
  const message_id = 'answer';
  yield say({ type: 'text.started', data: { message_id, role: 'assistant' } });
  for (const delta of text.split(/(?<= )/)) yield say({ type: 'text.delta', data: { message_id, delta } });
  yield say({ type: 'text.finished', data: { message_id } });
}

function finished(): LifecycleBody {
  return { type: 'run.finished', data: { outcome: 'success', stop_reason: 'end_turn' } };
}

function cancelled(): LifecycleBody {
  return { type: 'run.cancelled', data: { reason: 'client_request', side_effect_status: 'none' } };
}
