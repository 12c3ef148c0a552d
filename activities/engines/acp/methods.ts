import { z } from 'zod';
import { SessionState, ToolUpdate, type Kept } from './acp-schema.ts';
import { INITIAL_ACP_STATE, TABLE_LIMITS, type AcpState } from './acp-state.ts';
import { entryOf, withEntry, withoutEntry } from '../bounded-table.ts';
import { sayWritten, writeAsked } from './file-writes.ts';
import type { Scribe } from './scribe.ts';
import { sayOpenedSession, saySetting, saySettings, sayTurnUsage } from './session-facts.ts';
import { turnToNext } from './session-updates.ts';
import { forgetTerminal, sayPolledOutput } from './terminals.ts';
import { sayToolUpdate } from './tool-calls.ts';

/** A message of the wire as far as it is read; `id` is JSON. */
export interface WireParts {
  readonly id: string;
  readonly dir: 'recv' | 'send';
  readonly params: unknown;
  readonly result: unknown;
  readonly error: unknown;
  readonly kept: Kept;
}

/** Says what it can and gives the reason for saying nothing; the empty reason: it is not what it should be. */
type SayMethod = (scribe: Scribe, wire: WireParts) => string;

const optionalText = z.string().nullish().catch(null);
const Initialized = z.looseObject({
  protocolVersion: z.union([z.number(), z.string()]),
  agentInfo: z.looseObject({ name: z.string(), title: optionalText, version: optionalText }).nullish().catch(null),
});
const Opening = z.looseObject({ cwd: z.string(), sessionId: optionalText });
const Choice = z.looseObject({ modeId: optionalText, modelId: optionalText });
const Permission = z.looseObject({ sessionId: optionalText, toolCall: ToolUpdate });
const Terminal = z.looseObject({ terminalId: z.string() });
const AuthStatus = z.looseObject({ authStatus: z.looseObject({ kind: z.string(), label: optionalText }) });

/** Every message of the protocol but `session/update`, by the type that `WireFrames` gives it. */
export const METHODS: ReadonlyMap<string, SayMethod> = new Map<string, SayMethod>([
  ['initialize', begin],
  ['initialize:result', sayAgent],
  ['session/new', (scribe, wire) => opening(scribe, wire, false)],
  ['session/load', (scribe, wire) => opening(scribe, wire, true)],
  ['session/fork', (scribe, wire) => opening(scribe, wire, true)],
  ['session/resume', (scribe, wire) => opening(scribe, wire, false)],
  ['session/new:result', opened],
  ['session/load:result', opened],
  ['session/resume:result', opened],
  ['session/fork:result', replayed],
  ['session/load:error', failedToLoad],
  ['session/fork:error', failedToLoad],
  ['session/prompt', promptSent],
  ['session/prompt:result', promptAnswered],
  ['session/prompt:error', promptAnswered],
  ['session/set_mode', chosen],
  ['session/set_mode:result', choiceTaken],
  ['session/set_model', chosen],
  ['session/set_model:result', choiceTaken],
  [
    'session/set_config_option:result',
    (scribe, { result }) => saySettings(scribe, SessionState.safeParse(result).data ?? {}),
  ],
  ['session/request_permission', sayPermission],
  ['elicitation/create', sayElicitation],
  ['fs/write_text_file', (scribe, wire) => keepAsked(scribe, wire, writeAsked(scribe, wire.params))],
  ['fs/write_text_file:result', written],
  ['terminal/output', (scribe, wire) => keepAsked(scribe, wire, terminalAsked(wire.params))],
  ['terminal/output:result', polled],
  ['terminal/release', released],
  ['_auth/status_update', sayAccount],
  ...quiet('the platform says what is asked and answered', [
    'session/request_permission:result',
    'elicitation/create:result',
    'elicitation/complete',
    '$/cancel_request',
    'session/cancel',
  ]),
  ...quiet('the client serves its own files and terminals', [
    'fs/read_text_file',
    'fs/read_text_file:result',
    'terminal/create',
    'terminal/create:result',
    'terminal/wait_for_exit',
    'terminal/wait_for_exit:result',
    'terminal/kill',
    'terminal/kill:result',
    'terminal/release:result',
  ]),
  ...quiet('bookkeeping of the connection', [
    'authenticate',
    'authenticate:result',
    'logout',
    'logout:result',
    'session/list',
    'session/list:result',
    'session/close',
    'session/close:result',
    'session/delete',
    'session/delete:result',
    'session/set_config_option',
  ]),
]);

function quiet(why: string, types: readonly string[]): [string, SayMethod][] {
  return types.map((type) => [type, () => why]);
}

/** A new connection: only what keeps message ids unique in the run outlives the one before. */
function begin(scribe: Scribe): string {
  const { unnamedMessages, usedIds, contextFill, costUsd }: AcpState = scribe.state;
  scribe.remember({ ...INITIAL_ACP_STATE, unnamedMessages, usedIds, contextFill, costUsd });
  return 'bookkeeping of the connection';
}

function sayAgent(scribe: Scribe, { result }: WireParts): string {
  const answer = Initialized.safeParse(result).data;
  if (answer === undefined) return '';
  const { agentInfo, protocolVersion } = answer;
  const agent =
    agentInfo == null
      ? {}
      : {
          agent: {
            name: agentInfo.title ?? agentInfo.name,
            ...(agentInfo.version == null ? {} : { version: agentInfo.version }),
          },
        };
  scribe.say(scribe.self, { kind: 'session.metadata', metadata: { protocolVersion, ...agent } });
  return '';
}

function opening(scribe: Scribe, { params }: WireParts, isReplay: boolean): string {
  const asked = Opening.safeParse(params).data;
  const sessionId = isReplay && scribe.state.sessionId !== null ? scribe.state.sessionId : (asked?.sessionId ?? null);
  scribe.remember({ isReplaying: isReplay, sessionId, cwd: asked?.cwd.replace(/\/+$/, '') ?? scribe.state.cwd });
  return 'bookkeeping of the connection';
}

function opened(scribe: Scribe, { result }: WireParts): string {
  scribe.remember({ isReplaying: false });
  return sayOpenedSession(scribe, result);
}

function replayed(scribe: Scribe): string {
  scribe.remember({ isReplaying: false });
  return 'a copy of the session, which no turn uses';
}

/** The session is begun anew then; the driver knows. */
function failedToLoad(scribe: Scribe): string {
  scribe.remember({ isReplaying: false, sessionId: null });
  const message = 'the engine could not take up its session';
  scribe.say(scribe.self, { kind: 'harness.warning', message, code: 'session_not_loaded' });
  return '';
}

function promptSent(scribe: Scribe): string {
  scribe.remember({ turn: 'open', isFailing: false, isReplaying: false, looseWrites: [] });
  return 'the platform says that the turn began';
}

function promptAnswered(scribe: Scribe, { result }: WireParts): string {
  turnToNext(scribe, scribe.self);
  scribe.remember({ turn: 'over' });
  return sayTurnUsage(scribe, result);
}

function chosen(scribe: Scribe, wire: WireParts): string {
  const { modeId, modelId } = Choice.safeParse(wire.params).data ?? {};
  const choice = { ...(modeId == null ? {} : { mode: modeId }), ...(modelId == null ? {} : { model: modelId }) };
  keepAsked(scribe, wire, choice);
  return 'said when the engine has taken it';
}

function choiceTaken(scribe: Scribe, wire: WireParts): string {
  return saySetting(scribe, takeAsked(scribe, wire) ?? {});
}

function sayPermission(scribe: Scribe, { params, kept }: WireParts): string {
  const asked = Permission.safeParse(params).data;
  if (asked === undefined) return '';
  const { sessionId, toolCall } = asked;
  const isChild = sessionId != null && entryOf(scribe.state.children, sessionId) !== undefined;
  const speaker = isChild ? scribe.childSpeaker(sessionId) : scribe.self;
  return sayToolUpdate(scribe, speaker, toolCall, { kept, isRequest: true });
}

function sayElicitation(scribe: Scribe): string {
  turnToNext(scribe, scribe.self);
  return 'the platform says what is asked and answered';
}

function written(scribe: Scribe, wire: WireParts): string {
  const path = takeAsked(scribe, wire)?.['path'];
  return path === undefined ? 'an answer to what was not seen' : sayWritten(scribe, path, wire.kept);
}

function terminalAsked(params: unknown): Readonly<Record<string, string>> | null {
  const terminal = Terminal.safeParse(params).data;
  return terminal === undefined ? null : { terminalId: terminal.terminalId };
}

function polled(scribe: Scribe, wire: WireParts): string {
  const terminalId = takeAsked(scribe, wire)?.['terminalId'];
  return terminalId === undefined ? 'an answer to what was not seen' : sayPolledOutput(scribe, terminalId, wire.result);
}

function released(scribe: Scribe, { params }: WireParts): string {
  const terminal = Terminal.safeParse(params).data;
  if (terminal !== undefined) forgetTerminal(scribe, terminal.terminalId);
  return 'the client serves its own files and terminals';
}

/** Whose account the model is called with; never the key. */
function sayAccount(scribe: Scribe, { params }: WireParts): string {
  const status = AuthStatus.safeParse(params).data?.authStatus;
  if (status === undefined) return 'an extension of the protocol';
  const { kind, label } = status;
  const metadata = { account: { kind, ...(label == null ? {} : { label }) } };
  scribe.say(scribe.self, { kind: 'session.metadata', metadata });
  return '';
}

/** An answer comes from the other side than its request, under the same id. */
function keepAsked(scribe: Scribe, { dir, id }: WireParts, asked: Readonly<Record<string, string>> | null): string {
  if (asked === null) return '';
  const table = withEntry(scribe.state.asked, `${dir}:${id}`, asked, TABLE_LIMITS.asked);
  scribe.remember({ asked: table });
  return 'said when it is answered';
}

function takeAsked(scribe: Scribe, { dir, id }: WireParts): Readonly<Record<string, string>> | undefined {
  const key = `${dir === 'recv' ? 'send' : 'recv'}:${id}`;
  const asked = entryOf(scribe.state.asked, key);
  scribe.remember({ asked: withoutEntry(scribe.state.asked, key) });
  return asked;
}
