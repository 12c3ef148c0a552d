import { parseJsonObject } from '../../../contract/json-object.ts';
import type { LifecycleData } from '../../../contract/lifecycle.ts';
import { previewText } from '../../../contract/frames.ts';
import { PREVIEW_LIMIT_CHARS, previewInput } from '../../../contract/platform-frames.ts';
import { cutText } from '../../../contract/sanitize.ts';

/** A tool call whose arguments are streamed: plain JSON, bounded. */
export interface HeldCall {
  readonly id: string;
  readonly name: string;
  readonly namespace: readonly string[];
  /** The beginning of its arguments. */
  readonly text: string;
  /** Characters of all its arguments. */
  readonly chars: number;
  readonly isWhole: boolean;
}

export function heldCall(data: LifecycleData<'tool.started'>, namespace: readonly string[]): HeldCall {
  return { id: data.tool_call_id, name: data.tool_name, namespace, text: '', chars: 0, isWhole: false };
}

/** More of a timeline's preview is not kept, so what is longer is whole only when the adapter goes on. */
export function extendCall(call: HeldCall, delta: string): HeldCall {
  const chars = call.chars + delta.length;
  const text = call.text + delta.slice(0, PREVIEW_LIMIT_CHARS + 1 - call.text.length);
  const mayBeWhole = text.length === chars && text.trimEnd().endsWith('}');
  return { ...call, text, chars, isWhole: mayBeWhole && parseJsonObject(text) !== null };
}

/** The arguments as the timeline shows them: an object; a preview where they are too long or no JSON. */
export function argumentsSoFar({ text, chars }: HeldCall): unknown {
  if (chars === 0) return {};
  const whole = text.length === chars ? parseJsonObject(text) : null;
  if (whole !== null) return previewInput(whole);
  if (chars === text.length) return previewText(text, PREVIEW_LIMIT_CHARS);
  const shown = cutText(text, PREVIEW_LIMIT_CHARS);
  return `${shown}...[${String(chars - shown.length)} chars]`;
}
