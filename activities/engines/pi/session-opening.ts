import { z } from 'zod';
import { TidemarkError } from '../../../contract/errors.ts';
import type { NativeSession } from '../driver.ts';
import { READY_STATUS, type Ready } from './extension/protocol.ts';
import { faultText } from './fault-text.ts';
import { PI_PROTOCOL_VERSION } from './negotiated.ts';
import type { PiConnection } from './pi-connection.ts';
import type { PiMessage } from './pi-frames.ts';
import { SessionState, UiRequest } from './pi-schema.ts';

const ReadyStatus = z.object({
  tools: z.array(z.string()),
  fate: z.enum(['completed', 'in_progress', 'unknown']),
});

/** A session that was begun, or taken up. */
export interface OpenedPiSession extends NativeSession {
  readonly resumed: boolean;
}

/** The id under which pi is to look for a session; null: it is to begin one. */
export function sessionToTakeUp(known: NativeSession | null): string | null {
  return known?.protocolVersion === PI_PROTOCOL_VERSION ? known.nativeSessionId : null;
}

/**
 * Asks a pi that was just started for the session that it is in. pi begins one under the id of a session that it has lost, so one
 * without a message was not taken up.
 *
 * @throws TidemarkError `engine_unavailable` when it gives none, `engine_protocol_error` when its answer is not the protocol's.
 */
export async function askForSession(
  connection: PiConnection,
  { name, wanted }: { name: string; wanted: string | null },
): Promise<OpenedPiSession> {
  const answer = await connection.command('get_state');
  if (!answer.success) {
    throw new TidemarkError(
      'engine_unavailable',
      `${name} gives no session: ${faultText(answer.error)}`,
      "Run pi on the worker's machine, or read the worker's log: it has what the engine printed.",
    );
  }
  const state = SessionState.safeParse(answer.data).data;
  if (state === undefined) {
    throw new TidemarkError(
      'engine_protocol_error',
      `${name} answered with a session without an id`,
      'The frame of the answer shows it. Install the version of the engine that docs/engines.md names.',
    );
  }
  const { sessionId: nativeSessionId, messageCount } = state;
  const resumed = nativeSessionId === wanted && messageCount > 0;
  return { nativeSessionId, protocolVersion: PI_PROTOCOL_VERSION, resumed };
}

/** What Tidemark's extension says when pi has loaded it; null for any other message. */
export function readyIn(message: PiMessage): Ready | null {
  if (message.type !== 'extension_ui_request' || message['statusKey'] !== READY_STATUS) return null;
  try {
    return ReadyStatus.safeParse(JSON.parse(UiRequest.parse(message).statusText ?? '')).data ?? null;
  } catch {
    return null;
  }
}

/** A pi without the extension would ask nobody before it acts. */
export function ungated(name: string): TidemarkError {
  return new TidemarkError(
    'engine_unavailable',
    `${name} did not load the extension that asks for approvals`,
    'Install the version of pi that docs/engines.md names: npm run engines -- install pi.',
  );
}
