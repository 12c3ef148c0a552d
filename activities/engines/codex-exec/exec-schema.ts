import { z } from 'zod';
import { Item } from '../codex/codex-schema.ts';

/** What is read of the events of `codex exec --json` (0.171.0); everything else passes unread. */

const text = z.string().catch('');
const optionalText = z.string().nullish().catch(null);

/** What the process was started with; `threadId`: the thread that it takes up. */
export const Invocation = z.object({ threadId: z.string().min(1).nullable() });

export const ThreadStarted = z.object({ thread_id: z.string().min(1) });
export const TurnFailed = z.object({ error: z.object({ message: text }).catch({ message: '' }) });
export const ErrorEvent = z.object({ message: z.string() });

const count = z.number().nonnegative();
export const TurnCompleted = z.object({
  usage: z.object({ input_tokens: count, cached_input_tokens: count.catch(0), output_tokens: count }),
});

/** A part of the text of an item that is too long for one frame: this side's own, before the item itself. */
export const ItemPiece = z.object({ item: z.object({ id: z.string().min(1), type: z.string() }), piece: z.string() });

export const TodoList = z.object({
  items: z.array(z.object({ text, completed: z.boolean().catch(false) })),
});

const AgentState = z.object({ status: text, message: optionalText });

/** An item with the fields of all its types: each type has some of them. */
export const ExecItem = z.object({
  id: z.string().min(1),
  type: z.string(),
  status: text,
  text,
  message: text,
  command: text,
  aggregated_output: text,
  exit_code: z.number().nullish().catch(null),
  changes: z.array(z.object({ path: z.string().min(1), kind: text })).catch([]),
  server: optionalText,
  tool: text,
  arguments: z.unknown().optional(),
  result: z.unknown().optional(),
  error: z.unknown().optional(),
  query: text,
  receiver_thread_ids: z.array(z.string().min(1)).catch([]),
  prompt: optionalText,
  agents_states: z.record(z.string(), AgentState).catch({}),
});
export type ExecItem = z.infer<typeof ExecItem>;

export const ItemEvent = z.object({ item: ExecItem });

/** The types of the items that are the use of a tool, and what the app-server calls each. */
const TOOL_TYPES: ReadonlyMap<string, string> = new Map([
  ['command_execution', 'commandExecution'],
  ['file_change', 'fileChange'],
  ['mcp_tool_call', 'mcpToolCall'],
  ['collab_tool_call', 'collabAgentToolCall'],
  ['web_search', 'webSearch'],
]);

/** The use of a tool as an item of the app-server, which means the same by other names; null for an item that is none. */
export function toolItemOf(item: ExecItem): Item | null {
  const type = TOOL_TYPES.get(item.type);
  if (type === undefined) return null;
  return Item.parse({
    ...item,
    type,
    aggregatedOutput: item.aggregated_output,
    exitCode: item.exit_code,
    changes: item.changes.map(({ path, kind }) => ({ path, kind: { type: kind } })),
    receiverThreadIds: item.receiver_thread_ids,
    agentsStates: item.agents_states,
  });
}
