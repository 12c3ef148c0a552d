import { z } from 'zod';
import type { CanonicalBody } from '../../../contract/canonical.ts';
import { previewText, type NativeFrame } from '../../../contract/frames.ts';
import { faultText } from './fault-text.ts';

const SHOWN_CHARS = 2_000;
const words = z.string().nullish().catch(null);
const count = z.number().nullish().catch(null);

/** The fields of all that is told beside the conversation; each message has some of them. */
const Notice = z.object({
  attempt: count,
  max_retries: count,
  error_status: count,
  error: words,
  content: words,
  level: words,
  prevent_continuation: z.boolean().nullish().catch(null),
  text: words,
  priority: words,
  message: words,
  tool_name: words,
  reason: words,
  name: words,
  status: words,
  outcome: words,
  hook_name: words,
  stderr: words,
  lost: z.array(z.string()).catch([]),
  failed: z.array(z.object({ filename: z.string(), error: words })).catch([]),
  memories: z.array(z.object({ path: z.string() })).catch([]),
  compact_metadata: z.object({ trigger: words, pre_tokens: count, post_tokens: count }).nullish().catch(null),
  rate_limit_info: z.object({ status: words, rateLimitType: words, resetsAt: count }).nullish().catch(null),
});
type Notice = z.infer<typeof Notice>;

type NoticeReader = (notice: Notice, type: string) => CanonicalBody[];

/** What the program tells beside the conversation, by the frame's type; nothing for what is no news to a reader. */
const NOTICES: ReadonlyMap<string, NoticeReader> = new Map<string, NoticeReader>([
  ['system/api_retry', (notice, type) => [warning(type, retried(notice), 'model_retry')]],
  [
    'system/informational',
    ({ content, level, prevent_continuation: stops }, type) =>
      level === 'warning' || stops === true ? [warning(type, content)] : noted(content),
  ],
  [
    'system/notification',
    ({ text, priority }, type) =>
      priority === 'high' || priority === 'immediate' ? [warning(type, text)] : noted(text),
  ],
  ['system/model_refusal_fallback', ({ content }, type) => [warning(type, content, 'model_refused')]],
  ['system/model_refusal_no_fallback', ({ content }, type) => [warning(type, content, 'model_refused')]],
  [
    'system/permission_denied',
    ({ tool_name: tool, message }, type) => [
      warning(type, `${tool ?? 'a tool'}: ${message ?? ''}`, 'permission_denied'),
    ],
  ],
  ['system/mirror_error', ({ error }, type) => [warning(type, error)]],
  [
    'system/session_writes_lost',
    ({ lost }, type) => [warning(type, `the session could not be written: ${lost.join(', ')}`)],
  ],
  ['system/worker_shutting_down', ({ reason }, type) => [warning(type, reason)]],
  [
    'system/plugin_install',
    ({ status, name, error }, type) =>
      status === 'failed' ? [warning(type, `the plugin ${name ?? ''} was not installed: ${error ?? ''}`)] : [],
  ],
  [
    'system/hook_response',
    ({ outcome, hook_name: hook, stderr }, type) =>
      outcome === 'error' ? [warning(type, `the hook ${hook ?? ''} failed: ${stderr ?? ''}`)] : [],
  ],
  [
    'system/files_persisted',
    ({ failed }, type) =>
      failed.map(({ filename, error }) => warning(type, `${filename} was not stored: ${error ?? ''}`)),
  ],
  ['auth_status', ({ error }, type) => (error == null || error === '' ? [] : [warning(type, error)])],
  [
    'rate_limit_event',
    ({ rate_limit_info: limit }, type) =>
      limit == null || limit.status === 'allowed'
        ? []
        : [warning(type, `rate limit ${limit.rateLimitType ?? ''}: ${limit.status ?? ''}`, 'rate_limit')],
  ],
  [
    'system/compact_boundary',
    ({ compact_metadata: facts }, type) => {
      const { trigger, pre_tokens: preTokens, post_tokens: postTokens } = facts ?? {};
      return [marker(type, 'the conversation was compacted', { trigger, preTokens, postTokens })];
    },
  ],
  [
    'system/memory_recall',
    ({ memories }, type) => [marker(type, 'memories were recalled', { paths: memories.map(({ path }) => path) })],
  ],
  ['conversation_reset', (_notice, type) => [marker(type, 'the conversation was begun anew', {})]],
  ['active_goal', (notice) => noted(notice.text ?? notice.content)],
]);

/** Null for a frame that is no notice. */
export function noticeOf(frame: NativeFrame): CanonicalBody[] | null {
  const read = NOTICES.get(frame.type);
  const notice = Notice.safeParse(frame['params']).data;
  return read === undefined || notice === undefined ? null : read(notice, frame.type);
}

function retried({ attempt, max_retries: most, error_status: status, error }: Notice): string {
  const why = [error, status == null ? null : `status ${String(status)}`].filter((part) => part != null).join(', ');
  return `the model is asked again (${String(attempt ?? '?')} of ${String(most ?? '?')}): ${why}`;
}

function warning(rawEventType: string, text: string | null | undefined, code?: string): CanonicalBody {
  const message = text == null || text === '' ? rawEventType : faultText(text);
  return { kind: 'harness.warning', message, rawEventType, ...(code === undefined ? {} : { code }) };
}

function marker(sourceEventType: string, title: string, sourcePayload: Record<string, unknown>): CanonicalBody {
  return { kind: 'context.marker', markerType: 'memory', title, sourceEventType, sourcePayload };
}

function noted(text: string | null | undefined): CanonicalBody[] {
  if (text == null || text === '') return [];
  return [{ kind: 'session.metadata', metadata: { notice: previewText(text, SHOWN_CHARS) } }];
}
