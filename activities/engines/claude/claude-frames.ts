import { z } from 'zod';
import type { WireFrame } from '../wire/wire-frame.ts';

/** A message of the stream, one line of it; everything else in it passes unread. */
export type ClaudeMessage = Readonly<Record<string, unknown>>;

const word = z.string().catch('');
const Kinds = z.object({
  type: z.string().min(1).catch('unknown'),
  subtype: word,
  request_id: word,
  event: z.object({ type: word }).catch({ type: '' }),
  request: z.object({ subtype: word }).catch({ subtype: '' }),
  response: z.object({ request_id: word, subtype: word }).catch({ request_id: '', subtype: '' }),
});

/**
 * Turns the messages of one process into frames: it remembers what a control request asked, so that the answer says it too.
 *
 * `type` is the message's, with what tells its kinds apart behind it: `system/init`, `stream_event/content_block_delta`,
 * `control_request/can_use_tool`, `control_response/initialize`. The message itself is `params`, as it came; `id` is that of the
 * control request which it is, answers, or takes back.
 */
export class ClaudeFrames {
  readonly #asked = { recv: new Map<string, string>(), send: new Map<string, string>() };

  frameOf(dir: WireFrame['dir'], message: ClaudeMessage): WireFrame {
    const { type, subtype, request_id: requestId, event, request, response } = Kinds.parse(message);
    switch (type) {
      case 'control_request':
        this.#asked[dir].set(requestId, request.subtype);
        return { type: kindOf(type, request.subtype), dir, id: requestId, params: message };
      case 'control_response': {
        const asked = this.#asked[dir === 'recv' ? 'send' : 'recv'];
        const what = asked.get(response.request_id) ?? '';
        asked.delete(response.request_id);
        const kind = response.subtype === 'error' && what !== '' ? `${what}:error` : what;
        return { type: kindOf(type, kind), dir, id: response.request_id, params: message };
      }
      case 'control_cancel_request':
        return { type, dir, id: requestId, params: message };
      case 'stream_event':
        return { type: kindOf(type, event.type), dir, params: message };
      default:
        return { type: kindOf(type, subtype), dir, params: message };
    }
  }
}

function kindOf(type: string, kind: string): string {
  return kind === '' ? type : `${type}/${kind}`;
}
