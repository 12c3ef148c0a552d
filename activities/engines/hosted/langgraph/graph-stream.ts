import type { NativeFrame } from '../../../../contract/frames.ts';
import type { ToolOutput } from '../hosted-agent.ts';
import { plainJson } from '../plain-json.ts';
import { textOf } from '../shown-value.ts';
import { framesOfChunk, framesOfEvent } from './chunk-frames.ts';
import { isObject, type Graph } from './graph-shape.ts';

/** One thing that a graph has said. */
export interface Listened {
  readonly frames: readonly NativeFrame[];
  /** The id of the tool call that it begins, that it ends. */
  readonly started: string | null;
  readonly ended: string | null;
  /** What that one has come to. */
  readonly output: ToolOutput | null;
}

const MODES = ['updates', 'messages', 'tools', 'custom'];
const STARTS: ReadonlySet<unknown> = new Set(['on_tool_start', 'tool-started']);
const ENDS: ReadonlySet<unknown> = new Set(['on_tool_end', 'on_tool_error', 'tool-finished', 'tool-error']);

/** Runs a graph and gives what it says: by its stream modes, or by the events of its protocol. Throws what the graph throws. */
export async function* listen(
  agent: Graph,
  input: unknown,
  config: Readonly<Record<string, unknown>>,
  isByEvents: boolean,
): AsyncGenerator<Listened> {
  if (!isByEvents) {
    for await (const chunk of await agent.stream(input, { ...config, streamMode: MODES, subgraphs: true })) {
      const [, mode, said] = chunk;
      yield { frames: framesOfChunk(chunk), ...(mode === 'tools' ? toolIn(said) : NO_TOOL) };
    }
    return;
  }
  const run = await agent.streamEvents?.(input, { ...config, version: 'v3' });
  if (run === undefined) throw new Error('this graph has no streamEvents: leave out events of its engine');
  for await (const event of run) {
    const tool = event.method === 'tools' ? toolIn(event.params['data']) : NO_TOOL;
    yield { frames: framesOfEvent(event), ...tool };
  }
}

type OfTool = Omit<Listened, 'frames'>;

const NO_TOOL: OfTool = { started: null, ended: null, output: null };

function toolIn(said: unknown): OfTool {
  if (!isObject(said)) return NO_TOOL;
  const { event, output } = said;
  const id = firstText(said['toolCallId'], said['tool_call_id']);
  const toolName = firstText(said['name'], said['tool_name'], isObject(output) ? output['name'] : null, 'tool');
  return {
    started: STARTS.has(event) ? id : null,
    ended: ENDS.has(event) ? id : null,
    output: output === undefined ? null : { toolName, text: contentOf(output) },
  };
}

/** A tool gives a message, or a value of its own. */
function contentOf(output: unknown): string {
  return textOf(plainJson(isObject(output) && 'content' in output ? output['content'] : output));
}

function firstText(...values: readonly unknown[]): string {
  return values.find((value) => typeof value === 'string') ?? '';
}
