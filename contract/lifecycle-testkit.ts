import { fc } from './property-testkit.ts';
import type { LifecycleBody, LifecycleData, LifecycleEvent, LifecycleType } from './lifecycle.ts';

/** Legal lifecycle streams for tests: written by hand, or random by fast-check. */

export interface Line {
  readonly body: LifecycleBody;
  readonly namespace?: readonly string[];
}

export function line<T extends LifecycleType>(
  type: T,
  data: LifecycleData<T>,
  namespace: readonly string[] = [],
): Line {
  return { body: { type, data } as unknown as LifecycleBody, namespace };
}

/** The lines in their envelopes, numbered from 0. */
export function streamOf(lines: readonly Line[], runId = 'run-1'): LifecycleEvent[] {
  return lines.map(
    ({ body, namespace = [] }, sequence) =>
      ({
        version: 1,
        type: body.type,
        run_id: runId,
        conversation_id: 'conversation-1',
        sequence,
        timestamp: '2026-08-17T00:00:00Z',
        namespace: [...namespace],
        data: body.data,
      }) as LifecycleEvent,
  );
}

export const COMMITTED = { durability: 'committed', durable_revision: 8, head_ref: 'head' } as const;

/** One valid payload of every type. */
export const SAMPLE_DATA: { readonly [T in LifecycleType]: LifecycleData<T> } = {
  'run.started': { harness_id: 'harness', adapter_version: '1.0.0' },
  'run.finished': { outcome: 'success', stop_reason: 'end_turn', thread_state: COMMITTED },
  'run.interrupted': { interrupt_id: 'i', reason: 'tool_approval' },
  'run.cancelled': { reason: 'client_request', side_effect_status: 'none' },
  'run.error': {
    code: 'internal',
    message: 'failed',
    retryable: false,
    retry_after_seconds: null,
    side_effect_status: 'none',
  },
  'text.started': { message_id: 'm', role: 'assistant' },
  'text.delta': { message_id: 'm', delta: 'text' },
  'text.finished': { message_id: 'm' },
  'reasoning.started': { message_id: 'm' },
  'reasoning.delta': { message_id: 'm', delta: 'thought' },
  'reasoning.finished': { message_id: 'm' },
  'tool.started': { tool_call_id: 't', tool_name: 'tool', arguments: {} },
  'tool.arguments.delta': { tool_call_id: 't', delta: '{}' },
  'tool.finished': { tool_call_id: 't', result: 'result' },
  'tool.error': { tool_call_id: 't', code: 'tool_error', message: 'failed', retryable: false },
  'interrupt.requested': {
    interrupt_id: 'i',
    interrupt_type: 'tool_approval',
    agent_id: 'agent',
    tool_approvals: [{ tool_call_id: 't', tool_name: 'tool', tool_args: {}, allowed_decisions: ['approve', 'reject'] }],
  },
  'namespace.entered': { agent_id: 'child', agent_name: 'Child', parent_tool_call_id: 't' },
  'namespace.exited': { agent_id: 'child', parent_tool_call_id: 't', outcome: 'success' },
  warning: { code: 'careful', message: 'careful', details: { server: 'a' } },
  'usage.updated': { input_tokens: 10, output_tokens: null, cost: null, currency: null, final: false },
  'provider.metadata': { provider: 'example', model: 'model', metadata: { region: 'eu' } },
};

interface Open {
  readonly id: string;
  readonly namespace: readonly string[];
}

interface Writer {
  readonly lines: Line[];
  readonly text: Open[];
  readonly reasoning: Open[];
  readonly tools: (Open & { readonly streams: boolean })[];
  /** Every call so far: any of them may have delegated. */
  readonly calls: Open[];
  readonly active: { readonly path: readonly string[]; readonly call: string }[];
  ids: number;
}

/** A random legal stream: every choice is made by the numbers, so a failure shrinks. */
export const legalStream: fc.Arbitrary<LifecycleEvent[]> = fc
  .tuple(fc.array(fc.nat(), { maxLength: 40 }), fc.nat(), fc.nat())
  .map(([choices, ending, closings]) => {
    const writer: Writer = { lines: [], text: [], reasoning: [], tools: [], calls: [], active: [], ids: 0 };
    writer.lines.push(line('run.started', SAMPLE_DATA['run.started']));
    for (const choice of choices) write(writer, choice);
    end(writer, ending, closings);
    return streamOf(writer.lines);
  });

function write(writer: Writer, choice: number): void {
  const { lines, text, reasoning, tools, calls, active } = writer;
  const pick = <T>(from: readonly T[]): T | undefined => from[(choice >>> 6) % Math.max(1, from.length)];
  const home = pick([[], ...active.map(({ path }) => path)]) ?? [];
  const id = `id-${String(writer.ids++)}`;
  const family = (choice >>> 4) % 2 === 0 ? 'text' : 'reasoning';
  const blocks = family === 'text' ? text : reasoning;
  const block = pick(blocks);
  const tool = pick(tools);
  const call = pick(
    calls.filter(({ namespace }) => namespace.length === 0 || active.some(({ path }) => same(path, namespace))),
  );
  switch (choice % 11) {
    case 0:
    case 1:
      blocks.push({ id, namespace: home });
      lines.push(
        family === 'text'
          ? line('text.started', { message_id: id, role: 'assistant' }, home)
          : line('reasoning.started', { message_id: id }, home),
      );
      return;
    case 2:
    case 3:
      if (block) lines.push(line(`${family}.delta`, { message_id: block.id, delta: 'more' }, block.namespace));
      return;
    case 4:
      if (block) lines.push(line(`${family}.finished`, { message_id: take(blocks, block).id }, block.namespace));
      return;
    case 5:
    case 6: {
      const streams = (choice >>> 5) % 2 === 0;
      tools.push({ id, namespace: home, streams });
      calls.push({ id, namespace: home });
      const args = streams ? {} : { path: 'a' };
      lines.push(line('tool.started', { tool_call_id: id, tool_name: 'tool', arguments: args }, home));
      return;
    }
    case 7:
      if (!tool) return;
      if (tool.streams && (choice >>> 5) % 2 === 0) {
        lines.push(line('tool.arguments.delta', { tool_call_id: tool.id, delta: '{' }, tool.namespace));
      } else if (take(tools, tool).id.length % 2 === 0) {
        lines.push(line('tool.finished', { tool_call_id: tool.id, result: 'done' }, tool.namespace));
      } else {
        lines.push(line('tool.error', { ...SAMPLE_DATA['tool.error'], tool_call_id: tool.id }, tool.namespace));
      }
      return;
    case 8:
      if (!call || call.namespace.length >= 4 || active.some(({ call: other }) => other === call.id)) return;
      active.push({ path: [...call.namespace, call.id], call: call.id });
      lines.push(entered(call));
      return;
    case 9:
      if (active.length > 0) leave(writer, 'success');
      return;
    default:
      lines.push(line('warning', SAMPLE_DATA.warning, home));
  }
}

function end(writer: Writer, ending: number, closings: number): void {
  const { lines, text, tools, active } = writer;
  if (ending % 4 === 0) {
    const asked = SAMPLE_DATA['interrupt.requested'];
    const insideOut = closings % 2 === 0;
    if (!insideOut) while (active.length > 0) leave(writer, 'interrupted');
    lines.push(line('interrupt.requested', asked, active.at(-1)?.path ?? []));
    const [block] = text;
    const [tool] = tools;
    if (block && closings % 3 === 0) lines.push(line('text.finished', { message_id: block.id }, block.namespace));
    if (tool && closings % 5 === 0) {
      lines.push(line('tool.error', { ...SAMPLE_DATA['tool.error'], tool_call_id: tool.id }, tool.namespace));
    }
    while (active.length > 0) leave(writer, 'interrupted');
    lines.push(line('run.interrupted', SAMPLE_DATA['run.interrupted']));
    return;
  }
  while (active.length > 0) leave(writer, 'error');
  const type = (['run.finished', 'run.cancelled', 'run.error'] as const)[(ending % 4) - 1] ?? 'run.error';
  lines.push(line(type, SAMPLE_DATA[type]));
}

function entered({ id, namespace }: Open): Line {
  const data = { agent_id: `agent-${id}`, agent_name: 'Child', parent_tool_call_id: id };
  return line('namespace.entered', data, [...namespace, id]);
}

/** Leaves the innermost namespace; what was open in it is never mentioned again. */
function leave(writer: Writer, outcome: LifecycleData<'namespace.exited'>['outcome']): void {
  const { active } = writer;
  const innermost = active.toSorted((a, b) => b.path.length - a.path.length)[0];
  if (!innermost) return;
  take(active, innermost);
  const { path, call } = innermost;
  for (const open of [writer.text, writer.reasoning, writer.tools] as Open[][]) {
    for (const each of open.slice()) if (same(each.namespace, path)) take(open, each);
  }
  writer.lines.push(line('namespace.exited', { agent_id: `agent-${call}`, parent_tool_call_id: call, outcome }, path));
}

function take<T>(from: T[], item: T): T {
  from.splice(from.indexOf(item), 1);
  return item;
}

function same(a: readonly string[], b: readonly string[]): boolean {
  return a.join('\n') === b.join('\n');
}
