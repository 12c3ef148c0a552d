import { z } from 'zod';
import type { CanonicalBody } from '../../../contract/canonical.ts';
import {
  LIFECYCLE_DATA,
  LIFECYCLE_TYPES,
  type LifecycleBody,
  type LifecycleType,
} from '../../../contract/lifecycle.ts';
import { Id } from '../../../contract/lifecycle-fields.ts';
import { previewText, type NativeFrame } from '../../../contract/frames.ts';
import { PREVIEW_LIMIT_CHARS, previewInput } from '../../../contract/platform-frames.ts';
import { stateful, type Emission, type FrameContext, type Translated } from '../../../contract/translation.ts';
import { argumentsSoFar, extendCall, heldCall, type HeldCall } from './held-calls.ts';

/** Calls whose arguments are still streamed, in the order in which they began. */
interface LifecycleDialectState {
  readonly held: readonly HeldCall[];
}

const Envelope = z.object({ run_id: Id, namespace: z.array(Id) });
const RefusedFrame = z.object({ type: z.literal('refused'), rule: z.number().nullable(), eventType: z.string() });

/**
 * The dialect of Canonical Lifecycle Events v1: a frame is an event.
 *
 * A call that is started without arguments is said when they are whole, or when anything else is said: streamed arguments belong to
 * its start.
 *
 * **Contract:** pure and total over the 21 types; a malformed one gives a warning, and what is no type of v1 is `undefined`.
 */
export const translateLifecycleFrame = stateful<LifecycleDialectState>({ held: [] }, (state, frame, context) => {
  const refused = RefusedFrame.safeParse(frame);
  if (refused.success) return { state, said: [{ body: refusal(refused.data) }] };
  const type = LIFECYCLE_TYPES.find((known) => known === frame.type);
  if (type === undefined) return { state, said: undefined };
  const envelope = Envelope.safeParse(frame);
  const data = LIFECYCLE_DATA[type].safeParse(frame['data']);
  if (!envelope.success || !data.success) {
    return { state, said: isShortened(frame) ?? [{ body: malformed(type) }] };
  }
  const event = { type, data: data.data } as LifecycleBody;
  const { namespace } = envelope.data;
  if (event.type === 'tool.started' && Object.keys(event.data.arguments).length === 0) {
    const held = [...state.held, heldCall(event.data, namespace)];
    return { state: { held }, said: { suppressed: 'a tool call is said when its arguments are whole' } };
  }
  if (event.type === 'tool.arguments.delta') return extended(state, event.data);
  const native = nativeOf(namespace, event);
  const said = translate(event, { namespace, prefix: prefixOf(context, envelope.data.run_id) });
  if (event.type === 'tool.started') return { state, said: withNative(said, native) };
  return { state: { held: [] }, said: after(state.held.map(started), withNative(said, native)) };
});

interface Place {
  readonly namespace: readonly string[];
  /** Makes the ids of a stream's messages unique in the run. */
  readonly prefix: string;
}

function translate(event: LifecycleBody, place: Place): readonly CanonicalBody[] | { readonly suppressed: string } {
  switch (event.type) {
    case 'run.started':
      return { suppressed: 'the platform says that the turn has started' };
    case 'run.finished':
    case 'run.cancelled':
    case 'run.error':
      return { suppressed: 'the platform says how the turn ended' };
    case 'run.interrupted':
    case 'interrupt.requested':
      return { suppressed: 'the platform says what it asks a person' };
    case 'text.started':
      return [{ kind: 'message.started', messageId: idIn(place, event.data) }];
    case 'text.delta':
      return orEmpty(event.data.delta, {
        kind: 'message.delta',
        messageId: idIn(place, event.data),
        text: event.data.delta,
      });
    case 'text.finished':
      return [{ kind: 'message.completed', messageId: idIn(place, event.data) }];
    case 'reasoning.started':
      return { suppressed: 'reasoning begins with its first delta' };
    case 'reasoning.delta':
      return orEmpty(event.data.delta, {
        kind: 'reasoning.delta',
        messageId: idIn(place, event.data),
        text: event.data.delta,
      });
    case 'reasoning.finished':
      return [{ kind: 'reasoning.completed', messageId: idIn(place, event.data) }];
    case 'tool.started': {
      const { tool_call_id: toolCallId, tool_name: name, arguments: input } = event.data;
      return [{ kind: 'tool.started', toolCallId, name, input: previewInput(input) }];
    }
    case 'tool.arguments.delta':
      return { suppressed: 'a tool call is said when its arguments are whole' };
    case 'tool.finished': {
      const { tool_call_id: toolCallId, result } = event.data;
      return [{ kind: 'tool.completed', toolCallId, status: 'ok', preview: result }];
    }
    case 'tool.error': {
      const { tool_call_id: toolCallId, code, message } = event.data;
      return [{ kind: 'tool.completed', toolCallId, status: 'error', error: message, nativeStatus: code }];
    }
    case 'namespace.entered':
      return [entered(event.data, place.namespace)];
    case 'namespace.exited': {
      const { outcome } = event.data;
      const childId = childIdOf(place.namespace);
      // it goes on after the pause, and is entered again then
      if (outcome === 'interrupted') return [{ kind: 'child.updated', childId, status: outcome }];
      return [{ kind: 'child.completed', childId, status: outcome === 'success' ? 'ok' : 'error' }];
    }
    case 'warning':
      return [
        { kind: 'harness.warning', message: event.data.message, code: event.data.code, rawEventType: event.type },
      ];
    case 'usage.updated':
      return usage(event.data);
    case 'provider.metadata': {
      const { provider, model, metadata } = event.data;
      return [{ kind: 'session.metadata', metadata: { provider, model, ...metadata } }];
    }
  }
}

type DataOf<T extends LifecycleType> = LifecycleBody<T>['data'];

function entered(data: DataOf<'namespace.entered'>, path: readonly string[]): CanonicalBody {
  const parent = path.slice(0, -1);
  return {
    kind: 'child.started',
    childId: childIdOf(path),
    ...(parent.length === 0 ? {} : { parentChildId: childIdOf(parent) }),
    launchToolCallId: data.parent_tool_call_id,
    title: data.agent_name,
  };
}

function usage(data: DataOf<'usage.updated'>): readonly CanonicalBody[] | { readonly suppressed: string } {
  const { input_tokens, output_tokens, cached_input_tokens, cost, currency } = data;
  const known = {
    ...(input_tokens == null ? {} : { inputTokens: input_tokens }),
    ...(output_tokens == null ? {} : { outputTokens: output_tokens }),
    ...(cached_input_tokens == null ? {} : { cachedInputTokens: cached_input_tokens }),
    ...(cost == null || currency !== 'USD' ? {} : { costUsd: cost }),
  };
  if (Object.keys(known).length === 0) return { suppressed: 'it reports nothing that the grammar counts' };
  return [{ kind: 'usage.updated', ...known }];
}

function extended(state: LifecycleDialectState, data: DataOf<'tool.arguments.delta'>) {
  const held = state.held.map((call) => (call.id === data.tool_call_id ? extendCall(call, data.delta) : call));
  const whole = held.find((call) => call.id === data.tool_call_id && call.isWhole);
  if (whole === undefined) return { state: { held }, said: { suppressed: 'a part of the arguments of a tool call' } };
  return { state: { held: held.filter((call) => call !== whole) }, said: [started(whole)] };
}

function started(call: HeldCall): Emission {
  const { id: toolCallId, name, namespace } = call;
  const body = { kind: 'tool.started', toolCallId, name, input: argumentsSoFar(call) } as const;
  return namespace.length === 0 ? { body } : { body, native: sessionOf(namespace) };
}

function after(before: readonly Emission[], said: Translated): Translated {
  if (before.length === 0) return said;
  return 'suppressed' in said ? before : [...before, ...said];
}

function withNative(said: ReturnType<typeof translate>, native: Emission['native']): Translated {
  if ('suppressed' in said) return said;
  return said.map((body) => (native === undefined ? { body } : { body, native }));
}

function nativeOf(namespace: readonly string[], { type, data }: LifecycleBody): Emission['native'] {
  const ids = {
    ...(namespace.length > 0 && !type.startsWith('namespace.') ? sessionOf(namespace) : {}),
    ...('message_id' in data && data.message_id !== undefined ? { nativeMessageId: data.message_id } : {}),
  };
  return Object.keys(ids).length === 0 ? undefined : ids;
}

function sessionOf(namespace: readonly string[]) {
  const parent = namespace.slice(0, -1);
  return {
    nativeSessionId: childIdOf(namespace),
    nativeParentSessionId: parent.length === 0 ? 'root' : childIdOf(parent),
  };
}

/** A path is one sub-agent; its elements are escaped, so that no two paths are the same. */
function childIdOf(path: readonly string[]): string {
  return path.map(encodeURIComponent).join('/');
}

function idIn({ prefix }: Place, { message_id }: { message_id: string }): string {
  return `${prefix}.${message_id}`;
}

/** A stream's `run_id` tells the turn's streams apart, the step the attempts at the turn. */
function prefixOf({ runId, stepIndex, attempt }: FrameContext, streamId: string): string {
  const step = stepIndex === null ? 'run' : String(stepIndex);
  const stream = streamId.startsWith(runId) ? streamId.slice(runId.length) : `.${streamId}`;
  return `${runId}.${step}.${String(attempt)}${stream}`;
}

function orEmpty(delta: string, body: CanonicalBody): readonly CanonicalBody[] | { readonly suppressed: string } {
  return delta === '' ? { suppressed: 'an empty delta' } : [body];
}

/** Of an interrupt the platform has the whole; the frame's may be a preview. */
function isShortened({ type }: NativeFrame): Translated | null {
  return type === 'interrupt.requested' ? { suppressed: 'the platform says what it asks a person' } : null;
}

function malformed(type: LifecycleType): CanonicalBody {
  return { kind: 'harness.warning', message: 'a frame is malformed', rawEventType: type };
}

function refusal({ rule, eventType }: z.infer<typeof RefusedFrame>): CanonicalBody {
  const what =
    rule === null ? 'what is no event of lifecycle v1' : `an event that breaks rule ${String(rule)} of lifecycle v1`;
  const message = previewText(`the adapter sent ${what}; its stream was ended`, PREVIEW_LIMIT_CHARS);
  return { kind: 'harness.warning', message, code: 'harness_event_invalid', rawEventType: previewText(eventType, 100) };
}
