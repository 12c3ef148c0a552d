import type { CanonicalBody } from '../../../contract/canonical.ts';
import type { NativeFrame } from '../../../contract/frames.ts';
import type { Emission } from '../../../contract/translation.ts';
import { translateLangGraphFrame } from './translate.ts';

const context = { runId: 'run_1', stepIndex: 0, attempt: 1, provider: 'langgraph' };
/** The namespace of a sub-agent. */
export const CHILD = 'tools:one';

export const input = (value: object): NativeFrame => ({ type: 'input', dir: 'send', input: value });
export const cancel: NativeFrame = { type: 'cancel', dir: 'send' };
export const end: NativeFrame = { type: 'end', dir: 'recv' };
export const chunkOf = (type: string, chunk: unknown, namespace: string[] = []): NativeFrame => {
  return { type, dir: 'recv', namespace, chunk };
};
export const lc = (name: string, kwargs: object) => ({
  lc: 1,
  type: 'constructor',
  id: ['langchain_core', 'messages', name],
  kwargs,
});
export const piece = (id: string, content: unknown, fields: object = {}, namespace: string[] = []): NativeFrame =>
  chunkOf('messages', [lc('AIMessageChunk', { id, content, ...fields }), {}], namespace);
export const update = (node: string, messages: object[], namespace: string[] = []): NativeFrame =>
  chunkOf('updates', { [node]: { messages } }, namespace);
export const whole = (id: string, content: string, fields: object = {}) => lc('AIMessage', { id, content, ...fields });
export const result = (id: string, content: unknown, fields: object = {}) =>
  lc('ToolMessage', { tool_call_id: id, content, ...fields });
export const tool = (event: string, toolCallId: string, fields: object = {}, namespace: string[] = []): NativeFrame =>
  chunkOf('tools', { event, toolCallId, name: 'read', ...fields }, namespace);
export const event = (method: string, namespace: string[], data: unknown): NativeFrame => {
  return { type: 'event', dir: 'recv', method, seq: 1, params: { namespace, data } };
};

/** What the translator says of each frame; its state is stored between them. */
export function emitted(...frames: NativeFrame[]): (readonly Emission[] | string | undefined)[] {
  let state: unknown;
  return frames.map((frame) => {
    const translation = translateLangGraphFrame(frame, context, state);
    state = JSON.parse(JSON.stringify(translation.state)) as unknown;
    const { said } = translation;
    return said === undefined || 'suppressed' in said ? said?.suppressed : said;
  });
}

export const emissionsOf = (...frames: NativeFrame[]): Emission[] =>
  emitted(...frames).flatMap((answer) => (Array.isArray(answer) ? (answer as readonly Emission[]) : []));
export const bodiesOf = (...frames: NativeFrame[]): CanonicalBody[] => emissionsOf(...frames).map(({ body }) => body);
