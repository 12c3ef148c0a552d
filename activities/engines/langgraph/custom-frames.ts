import { z } from 'zod';
import { shownValue } from '../hosted/shown-value.ts';
import type { Scribe } from './scribe.ts';
import type { Speaker } from './speakers.ts';
import { callProgresses } from './tool-calls.ts';
import { entryOf } from '../bounded-table.ts';

const id = z.string().optional().catch(undefined);
const OfCall = z.object({ toolCallId: id, tool_call_id: id });

/** What the application writes into its own stream: a tool's progress where it names an open call, else a remark. */
export function translateCustom(scribe: Scribe, speaker: Speaker, value: unknown): string {
  const { tool_call_id: snake, toolCallId: call = snake } = OfCall.safeParse(value).data ?? {};
  if (call !== undefined && entryOf(scribe.state.calls.open, call) !== undefined) {
    callProgresses(scribe, speaker, { id: call, data: value });
    return 'no news of the tool';
  }
  const detail = shownValue(value);
  if (detail === '') return 'an empty remark';
  const title = 'the application remarks';
  scribe.say(speaker, { kind: 'context.marker', markerType: 'knowledge', title, detail, sourceEventType: 'custom' });
  return 'said';
}
