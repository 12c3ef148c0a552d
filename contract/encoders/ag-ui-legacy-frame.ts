import { spacedJson } from './custom-json.ts';
import { sseFrame } from './sse.ts';

/** A payload with its keys in wire order, before the timestamp. */
export type LegacyPayload =
  | { readonly type: 'RUN_STARTED'; readonly runId: string; readonly threadId: string }
  | { readonly type: 'TEXT_MESSAGE_START'; readonly messageId: string; readonly role: 'assistant' }
  | { readonly type: 'TEXT_MESSAGE_CONTENT'; readonly messageId: string; readonly delta: string }
  | { readonly type: 'TEXT_MESSAGE_END'; readonly messageId: string }
  | { readonly type: 'TOOL_CALL_START'; readonly toolCallId: string; readonly toolCallName: string }
  | { readonly type: 'TOOL_CALL_ARGS'; readonly toolCallId: string; readonly delta: string }
  | {
      readonly type: 'TOOL_CALL_RESULT';
      readonly message_id: null;
      readonly tool_call_id: string;
      readonly content: string;
      readonly role: 'tool';
    }
  | { readonly type: 'TOOL_CALL_END'; readonly toolCallId: string }
  | { readonly type: 'CUSTOM'; readonly name: 'NAMESPACE_CONTEXT' | 'WARNING'; readonly value: object }
  | {
      readonly type: 'RUN_FINISHED';
      readonly runId: string;
      readonly threadId: string;
      readonly outcome: 'success' | 'interrupt';
      readonly interrupt?: object;
    }
  | { readonly type: 'RUN_ERROR'; readonly message: string; readonly code: string };

/** The timestamp stands last; only the code of a RUN_ERROR comes after it. */
export function legacyFrame(payload: LegacyPayload, timestamp: string): string {
  const { code, ...fields } = { code: undefined, ...payload };
  const last = code === undefined ? '' : `, ${spacedJson({ code }).slice(1, -1)}`;
  const data = `${spacedJson(fields).slice(0, -1)}, "timestamp": ${unixSeconds(timestamp)}${last}}`;
  return sseFrame({ event: payload.type, data });
}

/** Seconds since the epoch as Python prints a float. */
function unixSeconds(timestamp: string): string {
  const seconds = Date.parse(timestamp) / 1000;
  return Number.isInteger(seconds) ? `${String(seconds)}.0` : String(seconds);
}
