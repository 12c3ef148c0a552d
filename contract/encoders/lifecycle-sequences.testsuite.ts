import { fc } from '../property-testkit.ts';
import { closingEvents } from '../lifecycle-closing.ts';
import { createLifecycleMachine } from '../lifecycle-machine.ts';
import type { LifecycleState } from '../lifecycle-state.ts';
import type { LifecycleBody, LifecycleData, LifecycleEvent } from '../lifecycle.ts';
import { begin, finish } from './lifecycle-bodies.testsuite.ts';
import { SCENARIO_AGENT } from './lifecycle-scenarios.testsuite.ts';

/** Any string at all: every code unit, lone surrogates among them, and what could end a line or a frame. */
export const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 8 }).map((units) => String.fromCharCode(...units)),
  fc.constantFrom(
    '',
    ' ',
    '\n',
    '\r',
    '\r\n\r\n',
    '\n\ndata: {}\n\n',
    'event: done\ndata: {}\n\n',
    '\u2028\u2029\u0085',
  ),
  fc.constantFrom('👩‍👩‍👧‍👦', '\ud83d', '\ude00', '你好世界', 'ñ', '\0', '\u001b[31m', '\ufeff', '"\\', '__proto__'),
);

const anyArguments = fc.dictionary(anyText, fc.oneof(anyText, fc.double({ noNaN: true }), fc.array(fc.boolean())), {
  maxKeys: 3,
  noNullPrototype: true,
});

/** Ids that mean something else to another kind, or to a JavaScript object. */
const ID = fc.constantFrom(
  'a',
  'b',
  'c',
  'text:a',
  'reasoning:a',
  'result:a',
  'call:a',
  '__proto__',
  'constructor',
  '0',
);

/** What a step wants to say. Where it cannot be said, the machine refuses it and it is left out. */
const wish = fc.record({
  kind: fc.constantFrom(
    ...(['text', 'delta', 'delta', 'delta', 'textEnd', 'reasoning', 'think', 'think', 'reasoningEnd'] as const),
    ...([
      'tool',
      'tool',
      'args',
      'args',
      'toolEnd',
      'toolError',
      'enter',
      'enter',
      'exit',
      'warning',
      'usage',
    ] as const),
  ),
  id: ID,
  parent: fc.option(ID, { nil: undefined }),
  pick: fc.nat({ max: 1000 }),
  text: anyText,
  args: fc.oneof(fc.constant({}), anyArguments),
});
type Wish = typeof wish extends fc.Arbitrary<infer T> ? T : never;

const ending = fc.record({
  type: fc.constantFrom('run.finished', 'run.interrupted', 'run.interrupted', 'run.cancelled', 'run.error'),
  /** Blocks and calls are closed before the end; the machine does not ask for it. */
  closes: fc.boolean(),
  form: fc.boolean(),
  pick: fc.nat({ max: 1000 }),
});
type Ending = typeof ending extends fc.Arbitrary<infer T> ? T : never;

type Entry = readonly [readonly string[], LifecycleBody];

/** A legal leg of up to `steps` events and its end. */
export function legalLeg(steps: number): fc.Arbitrary<LifecycleEvent[]> {
  return fc.tuple(fc.array(wish, { maxLength: steps, size: 'max' }), ending).map(([wishes, end]) => {
    const leg = new LegBuilder();
    for (const each of wishes) for (const entry of wanted(leg.state, each)) leg.say(entry);
    for (const entry of ended(leg.state, end)) leg.say(entry);
    return leg.events;
  });
}

class LegBuilder {
  readonly events: LifecycleEvent[] = [];
  readonly #machine = createLifecycleMachine({ audience: 'adapter', ephemeral: true });
  state = this.#machine.initial;

  constructor() {
    this.say([[], begin]);
  }

  say([namespace, body]: Entry): void {
    const sequence = this.events.length;
    const timestamp = new Date(Date.UTC(2026, 7, 17) + sequence * 250).toISOString();
    const head = { version: 1, run_id: 'run_1', conversation_id: 'thr_1', sequence, timestamp, namespace } as const;
    const event = { ...head, ...body } as LifecycleEvent;
    const advanced = this.#machine.advance(this.state, event);
    if (!advanced.ok) return;
    this.state = advanced.state;
    this.events.push(event);
  }
}

function wanted(state: LifecycleState, { kind, id, parent, pick, text, args }: Wish): Entry[] {
  const one = <T>(list: readonly T[]): T | undefined => list[pick % Math.max(1, list.length)];
  const spaces = Object.values(state.namespaces);
  const where = one([[], ...spaces.map(({ path }) => path)]) ?? [];
  const block = (family: string) =>
    one(Object.entries(state.blocks).filter(([key]) => key.startsWith(`${family}:`)))?.[1];
  const tool = one(Object.values(state.tools));
  const inBlock = (family: 'text' | 'reasoning', body: (message_id: string) => LifecycleBody): Entry[] => {
    const open = block(family);
    return open === undefined ? [] : [[open.namespace, body(open.id)]];
  };
  const inTool = (body: (tool_call_id: string) => LifecycleBody): Entry[] =>
    tool === undefined ? [] : [[tool.namespace, body(tool.id)]];
  switch (kind) {
    case 'text':
      return [[where, { type: 'text.started', data: { message_id: id, role: 'assistant' } }]];
    case 'delta':
      return inBlock('text', (message_id) => ({ type: 'text.delta', data: { message_id, delta: text } }));
    case 'textEnd':
      return inBlock('text', (message_id) => ({ type: 'text.finished', data: { message_id } }));
    case 'reasoning':
      return [[where, { type: 'reasoning.started', data: { message_id: id } }]];
    case 'think':
      return inBlock('reasoning', (message_id) => ({ type: 'reasoning.delta', data: { message_id, delta: text } }));
    case 'reasoningEnd':
      return inBlock('reasoning', (message_id) => ({ type: 'reasoning.finished', data: { message_id } }));
    case 'tool': {
      const carrier = parent === undefined ? {} : { parent_message_id: parent };
      const data = { tool_call_id: id, tool_name: `tool ${text}`, arguments: args, ...carrier };
      return [[where, { type: 'tool.started', data }]];
    }
    case 'args':
      return inTool((tool_call_id) => ({
        type: 'tool.arguments.delta',
        data: { tool_call_id, delta: fragment(args, pick) },
      }));
    case 'toolEnd':
      return inTool((tool_call_id) => ({ type: 'tool.finished', data: { tool_call_id, result: text } }));
    case 'toolError':
      return inTool((tool_call_id) => {
        const data = { tool_call_id, code: 'tool_error', message: text, retryable: false };
        return { type: 'tool.error', data };
      });
    case 'enter': {
      if (tool === undefined) return [];
      const data = { agent_id: `agent ${id}`, agent_name: `Agent ${text}`, parent_tool_call_id: tool.id };
      return [[[...tool.namespace, id], { type: 'namespace.entered', data }]];
    }
    case 'exit': {
      const space = one(spaces);
      if (space === undefined) return [];
      const outcome = (['success', 'interrupted', 'cancelled', 'error'] as const)[pick % 4] ?? 'success';
      const data = { agent_id: space.agentId, parent_tool_call_id: space.parentToolCallId, outcome };
      return [[space.path, { type: 'namespace.exited', data }]];
    }
    case 'warning':
      return [[where, { type: 'warning', data: { code: 'careful', message: text, details: { text } } }]];
    case 'usage':
      return [[where, { type: 'usage.updated', data: { input_tokens: pick, output_tokens: null, final: false } }]];
  }
}

/** Arguments arrive whole, in halves, or as no JSON at all. */
function fragment(args: Readonly<Record<string, unknown>>, pick: number): string {
  const json = JSON.stringify(args);
  const half = Math.ceil(json.length / 2);
  return [json, json.slice(0, half), json.slice(half), ` ${json} `][pick % 4] ?? '';
}

function ended(state: LifecycleState, { type, closes, form, pick }: Ending): Entry[] {
  if (type === 'run.interrupted') return paused(state, form, pick);
  const outcome = type === 'run.finished' ? 'success' : type === 'run.cancelled' ? 'cancelled' : 'error';
  const closing = closingEvents(state, outcome).map(({ namespace, body }): Entry => [namespace, body]);
  const needed = closes ? closing : closing.filter(([, body]) => body.type === 'namespace.exited');
  const status = { side_effect_status: 'possible' } as const;
  const last: Record<typeof type, LifecycleBody> = {
    'run.finished': finish,
    'run.cancelled': { type: 'run.cancelled', data: { reason: 'client_request', ...status } },
    'run.error': { type: 'run.error', data: { code: 'broken', message: 'It broke.', retryable: false, ...status } },
  };
  return [...needed, [[], last[type]]];
}

function paused(state: LifecycleState, form: boolean, pick: number): Entry[] {
  const tools = Object.values(state.tools);
  const spaces = [[], ...Object.values(state.namespaces).map(({ path }) => path)];
  const where = spaces[pick % spaces.length] ?? [];
  const asksForm = form || tools.length === 0;
  const head = { interrupt_id: 'int_1', agent_id: 'agent a' };
  const data: LifecycleData<'interrupt.requested'> = asksForm
    ? {
        ...{ ...head, interrupt_type: 'form_input', prompt: SCENARIO_AGENT },
        fields: [{ field_name: '__proto__', field_type: 'text', required: true }],
      }
    : {
        ...{ ...head, interrupt_type: 'tool_approval' },
        tool_approvals: tools.map(({ id }) => ({
          ...{ tool_call_id: id, tool_name: 'tool', tool_args: {} },
          allowed_decisions: pick % 2 === 0 ? ['approve', 'reject'] : ['approve', 'edit', 'reject'],
        })),
      };
  const closing = closingEvents(state, 'interrupted').map(({ namespace, body }): Entry => [namespace, body]);
  const reason = asksForm ? 'human_input' : 'tool_approval';
  return [
    [where, { type: 'interrupt.requested', data }],
    ...closing,
    [[], { type: 'run.interrupted', data: { interrupt_id: 'int_1', reason } }],
  ];
}
