import type { Usage } from '../../../contract/agent-messages.ts';
import type { CanonicalBody } from '../../../contract/canonical.ts';
import { previewText, type NativeFrame } from '../../../contract/frames.ts';
import { PREVIEW_LIMIT_CHARS } from '../../../contract/platform-frames.ts';
import { speakerOfStep, type Speaker } from '../../../contract/sub-agent.ts';
import { stateless, type FrameContext, type Translated } from '../../../contract/translation.ts';
import { SurfaceEvent, WITHOUT_MEANING } from './bus-events.ts';
import { BuiltinFrame } from './frames.ts';
import { outageBody } from './mcp/outage-frame.ts';

/**
 * The built-in engine's dialect. A message's id is (run, step, position in the message), so a repeated step says the same; the step
 * also tells which sub-agent speaks.
 *
 * **Contract:** pure and total: every event of the bus has an answer, one that is malformed gives a warning, and what is no
 * event of the bus is `undefined`.
 */
export const translateBuiltinFrame = stateless((raw, context) => {
  const speaker = speakerOfStep(context.runId, context.stepIndex);
  const frame = BuiltinFrame.safeParse(raw);
  if (frame.success) return spokenBy(speaker, translate(frame.data, context, speaker));
  const event = SurfaceEvent.safeParse(raw);
  if (event.success) return spokenBy(speaker, translateSurface(event.data));
  const suppressed = WITHOUT_MEANING.get(raw.type);
  if (suppressed !== undefined) return { suppressed };
  return NAMES.has(raw.type) ? malformed(raw) : undefined;
});

const NAMES: ReadonlySet<string> = new Set(
  [...BuiltinFrame.options, ...SurfaceEvent.options].map((option) => option.shape.type.value),
);

function translate(frame: BuiltinFrame, { runId, stepIndex }: FrameContext, speaker: Speaker | null): Translated {
  const step = stepIndex === null ? 'run' : String(stepIndex);
  const messageIdOf = (contentIndex: number) => `${runId}.${step}.${String(contentIndex)}`;
  switch (frame.type) {
    case 'text-start':
      return say({ kind: 'message.started', messageId: messageIdOf(frame.contentIndex) });
    case 'text-delta':
      return say({ kind: 'message.delta', messageId: messageIdOf(frame.contentIndex), text: frame.delta });
    case 'text-end':
      return say({ kind: 'message.completed', messageId: messageIdOf(frame.contentIndex) });
    case 'thinking-start':
      return { suppressed: 'reasoning begins with its first delta' };
    case 'thinking-delta':
      return say({ kind: 'reasoning.delta', messageId: messageIdOf(frame.contentIndex), text: frame.delta });
    case 'thinking-end':
      return say({ kind: 'reasoning.completed', messageId: messageIdOf(frame.contentIndex) });
    case 'tool-call-start':
    case 'tool-call-delta':
      return { suppressed: 'a tool call is said when its arguments are whole' };
    case 'tool-call-end':
      return say(started(frame.toolCall));
    case 'tool-call':
      // The guard says a start once; it is wanted again for a call whose result a repeated step has withdrawn. The progress
      // tells a call that runs from one that still waits for a person.
      return say(
        started(frame.toolCall),
        { kind: 'tool.progress', toolCallId: frame.toolCall.id, nativeStatus: 'running' },
        ...(speaker === null ? [] : [atWork(speaker, frame.toolCall.name)]),
      );
    case 'tool-output':
      return frame.chunk === ''
        ? { suppressed: 'an empty output' }
        : say({ kind: 'terminal.output', terminalId: frame.toolCallId, chunk: frame.chunk });
    case 'tool-result':
      return say(...created(frame), completed(frame), ...changed(frame), ...planned(frame));
    case 'llm-start':
      return { suppressed: 'bookkeeping of a model call' };
    case 'llm-end':
      return ended(frame);
    case 'sub-agent-start':
      return spokenBy(subAgentOf(runId, frame.childId), say(begun(frame)));
    case 'sub-agent-end':
      return spokenBy(subAgentOf(runId, frame.childId), say(over(frame)));
    case 'cancelled':
      return { suppressed: "the run's end says that it was cancelled" };
  }
}

/** The same, said by a sub-agent; what has a speaker already keeps it. */
function spokenBy(speaker: Speaker | null, said: Translated): Translated {
  if (speaker === null || 'suppressed' in said) return said;
  return said.map((emission) => ({ native: speaker, ...emission }));
}

function subAgentOf(runId: string, childId: string): Speaker {
  return { nativeSessionId: childId, nativeParentSessionId: runId };
}

function atWork({ nativeSessionId: childId }: Speaker, lastToolName: string): CanonicalBody {
  return { kind: 'child.updated', childId, status: 'running', state: { lastToolName } };
}

function begun(frame: Extract<BuiltinFrame, { type: 'sub-agent-start' }>): CanonicalBody {
  const { childId, toolCallId, task, model, name } = frame;
  return {
    kind: 'child.started',
    childId,
    launchToolCallId: toolCallId,
    ...(name === undefined ? {} : { title: name }),
    state: { status: 'running', prompt: task, model },
  };
}

function over({ childId, isError, preview, usage }: Extract<BuiltinFrame, { type: 'sub-agent-end' }>): CanonicalBody {
  const state = usage === undefined ? {} : { state: { usage: tokensOf(usage) } };
  return { kind: 'child.completed', childId, status: isError ? 'error' : 'ok', result: preview, ...state };
}

function say(...bodies: CanonicalBody[]): Translated {
  return bodies.map((body) => ({ body }));
}

function started(call: Extract<BuiltinFrame, { type: 'tool-call' }>['toolCall']): CanonicalBody {
  return { kind: 'tool.started', toolCallId: call.id, name: call.name, input: call.arguments };
}

type ResultFrame = Extract<BuiltinFrame, { type: 'tool-result' }>;

function created({ saved, output }: ResultFrame): CanonicalBody[] {
  return [saved, output].flatMap((named) => (named === undefined ? [] : [{ kind: 'artifact.created', ...named }]));
}

function completed({ toolCallId, isError, preview, output, durationMs }: ResultFrame): CanonicalBody {
  const beside = {
    ...(output === undefined ? {} : { artifact: output.artifact }),
    ...(durationMs === undefined ? {} : { durationMs }),
  };
  return isError
    ? { kind: 'tool.completed', toolCallId, status: 'error', error: preview, ...beside }
    : { kind: 'tool.completed', toolCallId, status: 'ok', preview, ...beside };
}

function changed({ isError, fileChange }: ResultFrame): CanonicalBody[] {
  return isError || fileChange === undefined ? [] : [{ kind: 'file.changed', ...fileChange }];
}

function planned({ isError, plan }: ResultFrame): CanonicalBody[] {
  return isError || plan === undefined ? [] : [{ kind: 'plan.updated', entries: plan }];
}

/** A failed call is not said here: the loop decides what it means for the run. */
function ended({ usage, total, stopReason }: Extract<BuiltinFrame, { type: 'llm-end' }>): Translated {
  if (usage === undefined) {
    const why = stopReason === 'error' ? 'the loop decides what a failed call means' : 'the call reported no usage';
    return { suppressed: why };
  }
  // the newest `usage.updated` is what a reader shows: the run's total
  return say({ kind: 'usage.updated', ...tokensOf(total ?? usage) });
}

function tokensOf({ input, output, cacheRead, cacheWrite, costUsd }: Usage): Record<string, number> {
  const isCounted = input !== undefined || cacheRead !== undefined || cacheWrite !== undefined;
  return {
    // The contract's input leaves out what a cache gave; the grammar's holds all of the prompt, the cached part beside it.
    ...(isCounted ? { inputTokens: (input ?? 0) + (cacheRead ?? 0) + (cacheWrite ?? 0) } : {}),
    ...(output === undefined ? {} : { outputTokens: output }),
    ...(cacheRead === undefined ? {} : { cachedInputTokens: cacheRead }),
    ...(costUsd === undefined ? {} : { costUsd }),
  };
}

function translateSurface(event: SurfaceEvent): Translated {
  switch (event.type) {
    case 'error':
      return say({ kind: 'harness.error', message: previewText(event.error, PREVIEW_LIMIT_CHARS), fatal: false });
    case 'extension-error': {
      const owner = event.owner === undefined ? '' : ` of ${event.owner}`;
      const message = previewText(`an extension${owner} failed: ${event.error}`, PREVIEW_LIMIT_CHARS);
      return say({ kind: 'harness.warning', message, code: 'extension_error', rawEventType: event.type });
    }
    case 'compaction-summary': {
      const { summary, type, ...counts } = event;
      const detail = previewText(summary, PREVIEW_LIMIT_CHARS);
      const marker = { markerType: 'memory', title: 'the conversation was compacted', detail } as const;
      return say({ kind: 'context.marker', ...marker, sourceEventType: type, sourcePayload: counts });
    }
    case 'mcp-unavailable':
      return say(outageBody(event));
  }
}

function malformed(raw: NativeFrame): Translated {
  const message = raw['_truncated'] === true ? 'a frame was over the limit and was cut' : 'a frame is malformed';
  return say({ kind: 'harness.warning', message, rawEventType: raw.type });
}
