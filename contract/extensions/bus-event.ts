import { z } from 'zod';
import { AssistantMessage, Message, ToolCall, ToolResultMessage } from '../agent-messages.ts';

/**
 * The events of the built-in engine's bus (extension contracts, "Events"): names as the contract has them, fields in
 * camelCase (`content-index` is `contentIndex`, `final?` is `final`). Where the system of the contract's origin sent other
 * fields, the contract's are these. What Tidemark adds is optional and says so.
 */

/** `Agent`: the run that an event belongs to, as a snapshot: a run has no object that could be handed out. */
export const Agent = z.strictObject({
  runId: z.string(),
  threadId: z.string(),
  model: z.string(),
  /** Addition: the id of the sub-agent that works in the run; absent for the run's own agent. */
  subAgent: z.string().optional(),
});
export type Agent = Readonly<z.infer<typeof Agent>>;

const text = z.string();
const count = z.number().nonnegative();
const contentIndex = z.int().nonnegative();
const block = { contentIndex };
const delta = { contentIndex, delta: text };
const whole = { contentIndex, content: text };

const PAYLOADS = {
  // the run
  'agent-started': { agent: Agent, cwd: text, model: text, provider: text },
  'agent-shutdown': { agent: Agent, reason: z.enum(['normal', 'crashed']), error: text.optional() },
  'agent-turn-complete': {
    agent: Agent,
    status: z.enum(['ok', 'cancelled', 'error']),
    messageCount: count,
    result: text.optional(),
    error: text.optional(),
  },
  'message-appended': { agent: Agent, index: z.int().positive(), message: Message },
  cancelled: {},
  user: { line: text },
  queued: { line: text },
  'compaction-summary': {
    summary: text,
    guidance: text.optional(),
    messagesKept: count.optional(),
    messagesSummarized: count.optional(),
    tokensBefore: count.optional(),
    tokensAfter: count.optional(),
    trigger: text.optional(),
  },
  // a model call
  'llm-start': { provider: text.optional(), model: text.optional() },
  'llm-end': { message: AssistantMessage },
  start: {},
  'text-start': block,
  'text-delta': delta,
  'text-end': whole,
  'thinking-start': block,
  'thinking-delta': delta,
  'thinking-end': whole,
  'tool-call-start': block,
  'tool-call-delta': delta,
  'tool-call-end': { contentIndex, toolCall: ToolCall },
  done: { message: AssistantMessage },
  // the same type says a fault of a command or an input, and the failed end of a provider's stream (addition: `message`)
  error: { error: text, message: AssistantMessage.optional() },
  // what of it a presenter shows
  'assistant-text': { text, final: z.boolean().optional() },
  'assistant-text-delta': { delta: text },
  'assistant-thinking': { text, final: z.boolean().optional() },
  'assistant-thinking-delta': { delta: text },
  'assistant-stream-end': {},
  // a tool call
  'tool-call': { toolCall: ToolCall },
  'tool-result': { result: ToolResultMessage },
  // extensions
  'extension-loaded': { name: text, firstParty: z.boolean().optional() },
  'extension-error': { error: text, event: text.optional(), owner: text.optional() },
  // presenters
  info: { info: text.optional(), text: text.optional() },
  'set-status-info': { info: text.nullish() },
  redraw: {},
  dismiss: {},
  'reinit-presenter': {},
  'reset-conversation': {},
} as const satisfies Record<string, z.ZodRawShape>;

export type BusEventName = keyof typeof PAYLOADS;
export type BusEventOf<Name extends BusEventName> = { readonly type: Name } & Readonly<
  z.infer<z.ZodObject<(typeof PAYLOADS)[Name]>>
>;
export type BusEvent = { [Name in BusEventName]: BusEventOf<Name> }[BusEventName];

/** What is on the bus: an event of the contract, or one that extensions have agreed on among themselves. */
export type EmittedEvent = BusEvent | { readonly type: string; readonly [field: string]: unknown };

const SCHEMAS: ReadonlyMap<string, z.ZodType> = new Map(
  Object.entries(PAYLOADS).map(([type, shape]) => [type, z.looseObject({ type: z.literal(type), ...shape })]),
);

export const BUS_EVENT_NAMES = Object.keys(PAYLOADS) as readonly BusEventName[];

/** What is wrong with an event's payload, by field; empty for a good one and for the extensions' own events. */
export function faultsOfEvent(event: EmittedEvent): string[] {
  const parsed = SCHEMAS.get(event.type)?.safeParse(event);
  if (parsed === undefined || parsed.success) return [];
  return parsed.error.issues.map(({ path, message }) => `${path.map(String).join('.') || 'the event'}: ${message}`);
}
