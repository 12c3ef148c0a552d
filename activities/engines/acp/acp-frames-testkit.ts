import type { CanonicalBody } from '../../../contract/canonical.ts';
import type { NativeFrame } from '../../../contract/frames.ts';
import type { EngineState, Translated } from '../../../contract/translation.ts';
import type { WireFrame } from '../wire/wire-frame.ts';
import { translateAcpFrame } from './translate.ts';

export const SESSION = 'ses_1';

/** What one connection's frames were answered with, each after those before. */
export function translated(frames: readonly NativeFrame[]): (Translated | undefined)[] {
  let state: EngineState;
  return frames.map((frame) => {
    const translation = translateAcpFrame(
      frame,
      { runId: 'run_1', provider: 'acp:x', stepIndex: 0, attempt: 1 },
      state,
    );
    state = translation.state ?? state;
    return translation.said;
  });
}

/** The events of the frames, without their native ids. */
export function said(frames: readonly NativeFrame[]): CanonicalBody[] {
  return translated(frames).flatMap((answer) => (Array.isArray(answer) ? answer.map(({ body }) => body) : []));
}

/** The frames inside of a turn. */
export function inTurn(...frames: readonly WireFrame[]): WireFrame[] {
  return [
    { type: 'session/new', dir: 'send', id: 1, params: { cwd: '/workspace', mcpServers: [] } },
    { type: 'session/new:result', dir: 'recv', id: 1, result: { sessionId: SESSION } },
    { type: 'session/prompt', dir: 'send', id: 2, params: { sessionId: SESSION, prompt: [] } },
    ...frames,
  ];
}

export function update(sessionUpdate: string, fields: object = {}, sessionId = SESSION): WireFrame {
  return { type: 'session/update', dir: 'recv', params: { sessionId, update: { sessionUpdate, ...fields } } };
}

export function textChunk(text: string, messageId?: string): WireFrame {
  return update('agent_message_chunk', {
    content: { type: 'text', text },
    ...(messageId === undefined ? {} : { messageId }),
  });
}

export function promptAnswer(result: object): WireFrame {
  return { type: 'session/prompt:result', dir: 'recv', id: 2, result };
}
