import { z } from 'zod';
import { McpOutageFrame } from './mcp/outage-frame.ts';

/** The events of the bus (extension contracts, "Events") that say nothing to a canonical reader, and why. */
export const WITHOUT_MEANING: ReadonlyMap<string, string> = new Map([
  ['agent-shutdown', "the run's end says it"],
  ['agent-started', "the run's start says it"],
  ['agent-turn-complete', "the run's end says it"],
  ['assistant-stream-end', 'the ends of the blocks say it'],
  ['assistant-text', 'the text was streamed'],
  ['assistant-text-delta', 'the text was streamed'],
  ['assistant-thinking', 'the reasoning was streamed'],
  ['assistant-thinking-delta', 'the reasoning was streamed'],
  ['dismiss', 'presenter only'],
  ['done', 'the end of the model call says it'],
  ['extension-loaded', 'read by introspection'],
  ['info', 'presenter only'],
  ['message-appended', 'bookkeeping of the conversation'],
  ['queued', 'said when the input is injected'],
  ['redraw', 'presenter only'],
  ['reinit-presenter', 'presenter only'],
  ['reset-conversation', 'presenter only'],
  ['set-status-info', 'presenter only'],
  ['start', 'the start of the model call says it'],
  ['user', "the run's input says it"],
]);

/** The events that the loop does not say itself but that mean something to a canonical reader. */
export const SurfaceEvent = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('compaction-summary'),
    summary: z.string(),
    guidance: z.string().optional(),
    messagesSummarized: z.number().optional(),
    messagesKept: z.number().optional(),
    tokensBefore: z.number().optional(),
    tokensAfter: z.number().optional(),
    trigger: z.string().optional(),
  }),
  z.object({ type: z.literal('error'), error: z.string() }),
  z.object({
    type: z.literal('extension-error'),
    error: z.string(),
    event: z.string().optional(),
    owner: z.string().optional(),
  }),
  McpOutageFrame,
]);
export type SurfaceEvent = z.infer<typeof SurfaceEvent>;
