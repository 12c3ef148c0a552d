import { PROTOCOL_VERSION } from '@agentclientprotocol/sdk';
import type { z } from 'zod';
import { TidemarkError } from '../../../contract/errors.ts';
import { previewText } from '../../../contract/frames.ts';
import type { NativeSession } from '../driver.ts';
import { AgentError, InitializeAnswer, SessionAnswer } from './agent-answers.ts';
import type { JsonRpcConnection, RpcAnswer } from '../wire/json-rpc-connection.ts';

const AUTH_REQUIRED = -32_000;
const SHOWN_CHARS = 500;

/** What this client offers an agent. */
function clientCapabilities(usesFiles: boolean): object {
  return {
    fs: { readTextFile: usesFiles, writeTextFile: usesFiles },
    terminal: true,
    elicitation: { form: {} },
    session: { configOptions: { boolean: {} } },
  };
}

export interface Beginning {
  readonly name: string;
  readonly workspace: string;
  readonly known: NativeSession | null;
  /** Whether files are read and written for the agent. */
  readonly usesFiles: boolean;
}

export interface Begun {
  readonly initialized: InitializeAnswer;
  readonly session: SessionAnswer;
  readonly nativeSessionId: string;
  readonly resumed: boolean;
}

/**
 * Negotiates with an agent that was just started and begins a session, or takes `known` up again where both can.
 *
 * @throws TidemarkError `engine_protocol_error` for an agent of another protocol, `engine_unavailable` when it gives no session.
 */
export async function beginSession(
  connection: JsonRpcConnection,
  { name, workspace, known, usesFiles }: Beginning,
): Promise<Begun> {
  const initialized = await initialize(connection, { name, usesFiles });
  const folder = { cwd: workspace, mcpServers: [] };
  const method = resumeMethod(initialized, known);
  if (known !== null && method !== null) {
    const { nativeSessionId } = known;
    const answer = await connection.request(method, { sessionId: nativeSessionId, ...folder });
    if (answer.error === undefined) {
      const session = read(SessionAnswer, answer.result ?? {}, method);
      return { initialized, session, nativeSessionId, resumed: true };
    }
  }
  const answer = await connection.request('session/new', folder);
  if (answer.error !== undefined) throw noSession(name, answer, initialized);
  const session = read(SessionAnswer, answer.result, 'session/new');
  if (typeof session.sessionId !== 'string') throw unreadable('session/new');
  return { initialized, session, nativeSessionId: session.sessionId, resumed: false };
}

/** A refusal of the agent in words that are safe to show: its own sentence, bounded. */
export function saidBy(answer: RpcAnswer): string {
  const { code, message } = AgentError.catch({ code: 0, message: 'no reason given' }).parse(answer.error);
  return `${previewText(message, SHOWN_CHARS)} (${String(code)})`;
}

async function initialize(
  connection: JsonRpcConnection,
  { name, usesFiles }: Pick<Beginning, 'name' | 'usesFiles'>,
): Promise<InitializeAnswer> {
  const answer = await connection.request('initialize', {
    protocolVersion: PROTOCOL_VERSION,
    clientCapabilities: clientCapabilities(usesFiles),
    clientInfo: { name: 'tidemark', title: 'Tidemark', version: '1' },
  });
  if (answer.error !== undefined) {
    throw new TidemarkError(
      'engine_unavailable',
      `${name} does not start a conversation: ${saidBy(answer)}`,
      'Try its command by hand; install the version that docs/engines.md names.',
    );
  }
  const initialized = read(InitializeAnswer, answer.result, 'initialize');
  if (initialized.protocolVersion === PROTOCOL_VERSION) return initialized;
  throw new TidemarkError(
    'engine_protocol_error',
    `${name} speaks version ${String(initialized.protocolVersion)} of the Agent Client Protocol; this driver speaks ${String(PROTOCOL_VERSION)}`,
    'Install a version of the engine that speaks it.',
  );
}

/** How an agent takes up a session: without telling it anew where it can. */
function resumeMethod({ agentCapabilities, protocolVersion }: InitializeAnswer, known: NativeSession | null) {
  if (known === null || known.protocolVersion !== String(protocolVersion)) return null;
  if (agentCapabilities.sessionCapabilities.resume) return 'session/resume';
  return agentCapabilities.loadSession ? 'session/load' : null;
}

function noSession(name: string, answer: RpcAnswer, { authMethods }: InitializeAnswer): TidemarkError {
  const { code } = AgentError.catch({ code: 0, message: '' }).parse(answer.error);
  const ways = authMethods.map(({ id, name: shown }) => (shown === '' ? id : shown)).join(', ');
  const remedy =
    code === AUTH_REQUIRED
      ? `Sign in with its own command on the worker's machine, or pass its key with passEnv${ways === '' ? '' : ` (it knows: ${previewText(ways, SHOWN_CHARS)})`}.`
      : "Read the worker's log: it has what the engine printed.";
  return new TidemarkError('engine_unavailable', `${name} gives no session: ${saidBy(answer)}`, remedy);
}

function read<T extends z.ZodType>(schema: T, value: unknown, method: string): z.infer<T> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw unreadable(method);
}

function unreadable(method: string): TidemarkError {
  return new TidemarkError(
    'engine_protocol_error',
    `the engine's answer to ${method} is not the protocol's`,
    'The frame of the answer shows it. Install a version of the engine that speaks the Agent Client Protocol 1.',
  );
}
