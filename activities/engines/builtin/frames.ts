import { z } from 'zod';
import {
  StopReason,
  textOf,
  Usage,
  type AssistantMessage,
  type ToolCall,
  type ToolResultMessage,
} from '../../../contract/agent-messages.ts';
import { previewText } from '../../../contract/frames.ts';
import { PREVIEW_LIMIT_CHARS, previewInput } from '../../../contract/platform-frames.ts';
import { NamedArtifact } from '../named-artifact.ts';
import { FileChange } from './file-change.ts';
import { Plan, PlanChange } from './plan.ts';
import type { ProviderEvent } from './providers/provider.ts';

/**
 * The bus events of the built-in engine as its lane keeps them (extension contracts, "Events"): small, each well under the
 * frame limit. What the deltas have said is not said again at their end, and what is large is a preview.
 */
const contentIndex = z.int().nonnegative();
const delta = { contentIndex, delta: z.string() };

/** A call as the timeline shows it: its arguments are a preview, so possibly a text. */
const ShownCall = z.object({
  id: z.string().min(1),
  name: z.string(),
  arguments: z.unknown(),
  argumentsError: z.string().optional(),
});

export const BuiltinFrame = z.discriminatedUnion('type', [
  z.object({ type: z.literal('llm-start'), provider: z.string(), model: z.string() }),
  z.object({ type: z.literal('text-start'), contentIndex }),
  z.object({ type: z.literal('text-delta'), ...delta }),
  z.object({ type: z.literal('text-end'), contentIndex }),
  z.object({ type: z.literal('thinking-start'), contentIndex }),
  z.object({ type: z.literal('thinking-delta'), ...delta }),
  z.object({ type: z.literal('thinking-end'), contentIndex }),
  z.object({ type: z.literal('tool-call-start'), contentIndex }),
  z.object({ type: z.literal('tool-call-delta'), ...delta }),
  z.object({ type: z.literal('tool-call-end'), contentIndex, toolCall: ShownCall }),
  z.object({
    type: z.literal('llm-end'),
    stopReason: StopReason,
    usage: Usage.optional(),
    /** What the run has used so far, this call with it. */
    total: Usage.optional(),
    provider: z.string().optional(),
    model: z.string().optional(),
    errorMessage: z.string().optional(),
  }),
  z.object({ type: z.literal('tool-call'), toolCall: ShownCall }),
  /** What a tool prints while it runs (an addition to the contract's events). */
  z.object({ type: z.literal('tool-output'), toolCallId: z.string().min(1), chunk: z.string() }),
  z.object({
    type: z.literal('tool-result'),
    toolCallId: z.string().min(1),
    toolName: z.string(),
    isError: z.boolean(),
    preview: z.string(),
    /** The whole text, where `preview` is a part of it. */
    output: NamedArtifact.optional(),
    durationMs: z.number().nonnegative().optional(),
    fileChange: FileChange.optional(),
    plan: Plan.optional(),
    /** What the tool was asked to keep. */
    saved: NamedArtifact.optional(),
  }),
  /** A call has begun a sub-agent; an addition to the bus. */
  z.object({
    type: z.literal('sub-agent-start'),
    childId: z.string().min(1),
    toolCallId: z.string().min(1),
    task: z.string(),
    model: z.string(),
    name: z.string().optional(),
  }),
  /** Its end; the call's result follows. */
  z.object({
    type: z.literal('sub-agent-end'),
    childId: z.string().min(1),
    isError: z.boolean(),
    preview: z.string(),
    /** What it has used by itself. */
    usage: Usage.optional(),
  }),
  z.object({ type: z.literal('cancelled') }),
]);
export type BuiltinFrame = z.infer<typeof BuiltinFrame>;

/** With every unit escaped to six bytes this is still under the frame limit. */
const DELTA_CHARS = 4_000;

/** The frames of one stream event; `start`, `done` and `error` give none: `llmStart` and `llmEnd` say them. */
export function framesOf(event: ProviderEvent): BuiltinFrame[] {
  switch (event.type) {
    case 'start':
    case 'done':
    case 'error':
      return [];
    case 'text-start':
    case 'text-end':
    case 'thinking-start':
    case 'thinking-end':
    case 'tool-call-start':
      return [{ type: event.type, contentIndex: event.contentIndex }];
    case 'text-delta':
    case 'thinking-delta':
    case 'tool-call-delta':
      return pieces(event.delta).map((piece) => ({ type: event.type, contentIndex: event.contentIndex, delta: piece }));
    case 'tool-call-end':
      return [{ type: 'tool-call-end', contentIndex: event.contentIndex, toolCall: shown(event.toolCall) }];
  }
}

/** A provider call begins. */
export function llmStart(provider: string, model: string): BuiltinFrame {
  return { type: 'llm-start', provider, model };
}

/** A provider call has ended, well or not. `total` is what the run has used so far, this call with it. */
export function llmEnd(message: AssistantMessage, total: Usage | undefined = message.usage): BuiltinFrame {
  const { stopReason = 'stop', usage, provider, model, errorMessage } = message;
  return {
    type: 'llm-end',
    stopReason,
    ...(usage === undefined ? {} : { usage }),
    ...(usage === undefined || total === undefined ? {} : { total }),
    ...(provider === undefined ? {} : { provider }),
    ...(model === undefined ? {} : { model }),
    ...(errorMessage === undefined ? {} : { errorMessage: previewText(errorMessage, PREVIEW_LIMIT_CHARS) }),
  };
}

/** A tool call is about to execute, with the arguments that a person may have changed. */
export function toolCallBegins(toolCall: ToolCall): BuiltinFrame {
  return { type: 'tool-call', toolCall: shown(toolCall) };
}

/** A part of what a tool prints. */
export function toolOutput(toolCallId: string, text: string): BuiltinFrame[] {
  return pieces(text).map((chunk) => ({ type: 'tool-output', toolCallId, chunk }));
}

/** A result's text when it is longer than its preview and so must be kept elsewhere; null when the preview is the whole. */
export function textOverPreview({ content }: Pick<ToolResultMessage, 'content'>): string | null {
  const text = textOf(content);
  return text.length > PREVIEW_LIMIT_CHARS ? text : null;
}

/** What of a tool's result is kept outside of the lane, and how long the tool took; left out for what did not run. */
export interface ToolResultExtras {
  readonly durationMs?: number;
  readonly output?: NamedArtifact | null;
  readonly diff?: NamedArtifact | null;
  readonly saved?: NamedArtifact | null;
}

/** A tool call has its result. */
export function toolResult(
  message: ToolResultMessage,
  { durationMs, output, diff, saved }: ToolResultExtras = {},
): BuiltinFrame {
  const { toolCallId, toolName, isError, content, details } = message;
  const change = FileChange.safeParse(details);
  const planned = PlanChange.safeParse(details);
  return {
    type: 'tool-result',
    toolCallId,
    toolName,
    isError,
    preview: previewText(textOf(content), PREVIEW_LIMIT_CHARS),
    ...(output === undefined || output === null ? {} : { output }),
    ...(durationMs === undefined ? {} : { durationMs }),
    ...(change.success && !isError ? { fileChange: withDiff(change.data, diff ?? null) } : {}),
    ...(planned.success && !isError ? { plan: planned.data.plan } : {}),
    ...(saved === undefined || saved === null ? {} : { saved }),
  };
}

function withDiff({ path, changeType }: FileChange, diff: NamedArtifact | null): FileChange {
  return diff === null ? { path, changeType } : { path, changeType, diff: diff.artifact };
}

/** A sub-agent begins its task. */
export function subAgentStart(agent: {
  readonly childId: string;
  readonly toolCallId: string;
  readonly task: string;
  readonly model: string;
  readonly name: string | null;
}): BuiltinFrame {
  const { childId, toolCallId, task, model, name } = agent;
  return {
    type: 'sub-agent-start',
    childId,
    toolCallId,
    task: previewText(task, PREVIEW_LIMIT_CHARS),
    model,
    ...(name === null ? {} : { name }),
  };
}

/** A sub-agent has ended; `result` is what its caller is told. */
export function subAgentEnd(
  childId: string,
  result: Pick<ToolResultMessage, 'content' | 'isError'>,
  usage: Usage | undefined,
): BuiltinFrame {
  return {
    type: 'sub-agent-end',
    childId,
    isError: result.isError,
    preview: previewText(textOf(result.content), PREVIEW_LIMIT_CHARS),
    ...(usage === undefined ? {} : { usage }),
  };
}

/** The run was stopped inside a step. */
export function cancelled(): BuiltinFrame {
  return { type: 'cancelled' };
}

function shown({ id, name, arguments: args, argumentsError }: ToolCall): z.infer<typeof ShownCall> {
  const preview = { id, name: previewText(name, 200), arguments: previewInput(args) };
  return argumentsError === undefined ? preview : { ...preview, argumentsError };
}

/** A text in parts of bounded length, no surrogate pair torn. */
function pieces(text: string): string[] {
  const parts: string[] = [];
  for (let start = 0; start < text.length;) {
    let end = Math.min(start + DELTA_CHARS, text.length);
    if (end < text.length && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800) end--;
    parts.push(text.slice(start, end));
    start = end;
  }
  return parts;
}
