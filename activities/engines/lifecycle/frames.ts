import { previewText, type NativeFrame } from '../../../contract/frames.ts';
import { cutText } from '../../../contract/sanitize.ts';
import type { LifecycleEvent } from '../../../contract/lifecycle.ts';
import type { StreamFault } from './stream-judge.ts';

const DELTA_CHARS = 4_000;
/** JSON of a part that may be large; with the envelope it stays under a frame's limit whatever its characters are. */
const PART_CHARS = 8_000;

/**
 * A judged event as the lane keeps it: the event itself. A long delta is several frames; arguments and fields that would not fit are
 * a preview of their JSON.
 */
export function framesOf(event: LifecycleEvent): NativeFrame[] {
  switch (event.type) {
    case 'text.delta':
    case 'reasoning.delta':
    case 'tool.arguments.delta': {
      const { delta } = event.data;
      if (delta.length <= DELTA_CHARS) return [event];
      return piecesOf(delta).map((piece) => ({ ...event, data: { ...event.data, delta: piece } }));
    }
    case 'tool.started':
      return [{ ...event, data: { ...event.data, arguments: fitted(event.data.arguments) } }];
    case 'interrupt.requested': {
      const { data } = event;
      const large =
        data.interrupt_type === 'form_input'
          ? { prompt: previewText(data.prompt, DELTA_CHARS), fields: fitted(data.fields) }
          : { tool_approvals: fitted(data.tool_approvals) };
      return [{ ...event, data: { ...data, ...large } }];
    }
    case 'run.started':
    case 'run.finished':
    case 'run.interrupted':
    case 'run.cancelled':
    case 'run.error':
    case 'text.started':
    case 'text.finished':
    case 'reasoning.started':
    case 'reasoning.finished':
    case 'tool.finished':
    case 'tool.error':
    case 'namespace.entered':
    case 'namespace.exited':
    case 'warning':
    case 'usage.updated':
    case 'provider.metadata':
      return [event];
  }
}

/** Says that the stream was ended for what it sent, and nothing of what that was. */
export function refusedFrame({ rule, reason, eventType }: StreamFault): NativeFrame {
  return { type: 'refused', rule, reason, eventType };
}

function piecesOf(text: string): string[] {
  const pieces: string[] = [];
  for (let rest = text; rest !== ''; rest = rest.slice(pieces.at(-1)?.length)) pieces.push(cutText(rest, DELTA_CHARS));
  return pieces;
}

function fitted(value: unknown): unknown {
  const text = JSON.stringify(value);
  return text.length <= PART_CHARS ? value : { preview: previewText(text, DELTA_CHARS) };
}
