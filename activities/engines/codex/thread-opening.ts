import { z } from 'zod';
import { TidemarkError } from '../../../contract/errors.ts';
import type { JsonRpcConnection, RpcAnswer } from '../wire/json-rpc-connection.ts';
import type { NativeSession } from '../driver.ts';
import type { InitializeParams, ThreadResumeParams, ThreadStartParams } from './app-server-types.ts';
import { OpenedThread } from './codex-schema.ts';
import { faultText } from '../fault-text.ts';
import { CODEX_PROTOCOL_VERSION } from './negotiated.ts';

/** How a thread is to work. */
export interface ThreadSettings {
  readonly cwd: string;
  readonly approvalPolicy: NonNullable<ThreadStartParams['approvalPolicy']>;
  readonly sandbox: NonNullable<ThreadStartParams['sandbox']>;
  readonly model: string | null;
}

const GREETING: InitializeParams = {
  clientInfo: { name: 'tidemark', title: 'Tidemark', version: '1' },
  capabilities: { experimentalApi: true, requestAttestation: false },
};

const RpcError = z.object({ message: z.string().catch('') });

/**
 * Greets an app-server that was just started and begins a thread, or takes `known` up again if it still has it.
 *
 * @throws TidemarkError `engine_unavailable` when it gives no thread, `engine_protocol_error` when its answer is not the protocol's.
 */
export async function openThread(
  connection: JsonRpcConnection,
  { name, known, settings }: { name: string; known: NativeSession | null; settings: ThreadSettings },
): Promise<{ thread: OpenedThread; resumed: boolean }> {
  const greeted = await connection.request('initialize', GREETING);
  if (greeted.error !== undefined) throw refused(name, greeted);
  await connection.notify('initialized');
  const wanted = wantedOf(settings);
  if (known?.protocolVersion === CODEX_PROTOCOL_VERSION) {
    const threadId = known.nativeSessionId;
    const taken: ThreadResumeParams = { threadId, ...wanted, excludeTurns: true };
    const answer = await connection.request('thread/resume', taken);
    if (answer.error === undefined) return { thread: threadOf(answer, name), resumed: true };
  }
  const answer = await connection.request('thread/start', wanted);
  if (answer.error !== undefined) throw refused(name, answer);
  return { thread: threadOf(answer, name), resumed: false };
}

/** The engine's own sentence of a refusal, safe to show. */
export function refusalOf({ error }: RpcAnswer): string {
  return faultText(RpcError.safeParse(error).data?.message);
}

function wantedOf({ model, ...rest }: ThreadSettings): ThreadStartParams & Omit<ThreadResumeParams, 'threadId'> {
  return model === null ? rest : { ...rest, model };
}

function threadOf({ result }: RpcAnswer, name: string): OpenedThread {
  const parsed = OpenedThread.safeParse(result);
  if (parsed.success) return parsed.data;
  throw unreadable(name, 'a thread without an id, or without its model');
}

/** For an answer that is not what this version of the protocol has. */
export function unreadable(name: string, what: string): TidemarkError {
  return new TidemarkError(
    'engine_protocol_error',
    `${name} answered with ${what}`,
    'The frame of the answer shows it. Install the version of the engine that docs/engines.md names.',
  );
}

function refused(name: string, answer: RpcAnswer): TidemarkError {
  return new TidemarkError(
    'engine_unavailable',
    `${name} gives no thread: ${refusalOf(answer)}`,
    "Sign in with `codex login` on the worker's machine, or read the worker's log: it has what the engine printed.",
  );
}
