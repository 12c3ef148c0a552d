import { z } from 'zod';
import type { NativeFrame } from '../../../contract/frames.ts';
import { hasEnded } from '../hosted/open-calls.ts';
import type { Scribe } from './scribe.ts';
import type { Speaker } from './speakers.ts';
import { callBegins, callFailed, callProgresses, callReturned } from './tool-calls.ts';

const text = z.string().catch('');

/** Stream mode `tools`, and the protocol's event of that name, which says the same in other words. */
const ToolEvent = z.union([
  z.object({
    event: z.string(),
    toolCallId: z.string().min(1),
    name: text,
    input: z.unknown().optional(),
    data: z.unknown().optional(),
    output: z.unknown().optional(),
    error: z.unknown().optional(),
  }),
  z
    .object({
      event: z.string(),
      tool_call_id: z.string().min(1),
      tool_name: text,
      input: z.unknown().optional(),
      delta: z.unknown().optional(),
      output: z.unknown().optional(),
      message: z.unknown().optional(),
    })
    .transform(({ event, tool_call_id: toolCallId, tool_name: name, input, delta, output, message }) => {
      return { event, toolCallId, name, input, data: delta, output, error: message };
    }),
]);
export type ToolEvent = z.infer<typeof ToolEvent>;

/** Null for what is no event of a tool. */
export function toolEventOf(data: unknown): ToolEvent | null {
  return ToolEvent.safeParse(data).data ?? null;
}

/** Null for an event that the library does not have. */
export function translateTools(
  scribe: Scribe,
  speaker: Speaker,
  told: { event: ToolEvent; frame: NativeFrame },
): string | null {
  const { event, toolCallId: id, name, input, data, output, error } = told.event;
  switch (event) {
    case 'on_tool_start':
    case 'tool-started':
      if (hasEnded(scribe.state.calls, id)) return 'late: its call has ended';
      callBegins(scribe, speaker, { id, name, input });
      return 'a call that was said';
    case 'on_tool_event':
    case 'tool-output-delta':
      callProgresses(scribe, speaker, { id, data });
      return 'no news of the tool';
    case 'on_tool_end':
    case 'tool-finished':
      callReturned(scribe, speaker, { id, name, output, frame: told.frame });
      return 'late: its call has ended';
    case 'on_tool_error':
    case 'tool-error':
      callFailed(scribe, speaker, { id, name, error });
      return 'late, or an error without words';
    default:
      return null;
  }
}
