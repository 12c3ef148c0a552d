import { TidemarkError } from '../../../contract/errors.ts';
import { faultText } from '../fault-text.ts';
import type { NativeSession } from '../driver.ts';
import type { ServerAnswer, ServerCall } from './call-frames.ts';
import { OPENCODE_PROTOCOL_VERSION } from './negotiated.ts';
import { NamedError, Session } from './opencode-schema.ts';

export type Call = (call: ServerCall) => Promise<ServerAnswer>;

/**
 * Takes `known` up if the server still has it, else begins a session.
 *
 * @throws TidemarkError `engine_unavailable` when the server gives none, `engine_protocol_error` when its answer is not the protocol's.
 */
export async function openSession(
  call: Call,
  { name, known }: { name: string; known: NativeSession | null },
): Promise<{ sessionId: string; resumed: boolean }> {
  if (known?.protocolVersion === OPENCODE_PROTOCOL_VERSION) {
    const answer = await call({ method: 'GET', path: `/session/${known.nativeSessionId}` });
    if (answer.status === 200) return { sessionId: idIn(answer, name), resumed: true };
  }
  const answer = await call({ method: 'POST', path: '/session', body: {} });
  if (answer.status !== 200) throw refused(name, answer);
  return { sessionId: idIn(answer, name), resumed: false };
}

/** The engine's own sentence of a refusal, safe to show. */
export function refusalOf({ status, body }: ServerAnswer): string {
  const error = NamedError.safeParse(body).data;
  return faultText(error?.data?.message ?? (error?.name || `it answered ${String(status)}`));
}

function idIn({ body }: ServerAnswer, name: string): string {
  const id = Session.safeParse(body).data?.id;
  if (id !== undefined) return id;
  throw new TidemarkError(
    'engine_protocol_error',
    `${name} answered with a session without an id`,
    'The frame of the answer shows it. Install the version of the engine that docs/engines.md names.',
  );
}

function refused(name: string, answer: ServerAnswer): TidemarkError {
  return new TidemarkError(
    'engine_unavailable',
    `${name} gives no session: ${refusalOf(answer)}`,
    "Run `opencode` on the worker's machine, or read the worker's log: it has what the engine printed.",
  );
}
