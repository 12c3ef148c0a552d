import type { CanonicalBody } from '../../../contract/canonical.ts';
import { previewText } from '../../../contract/frames.ts';
import { hashText } from '../../../contract/lifecycle-text-hash.ts';
import { previewInput, PREVIEW_LIMIT_CHARS } from '../../../contract/platform-frames.ts';
import { entryOf, withEntry } from '../bounded-table.ts';
import { childEndedByTool, childLaunched } from './children.ts';
import { changedFiles, changesOfTool, withChanges } from './file-changes.ts';
import type { Kept, Part, PermissionAsked } from './opencode-schema.ts';
import { durationOf, faultOf, titleOf } from './tool-facts.ts';
import { quiet, saying, TABLE_LIMITS, type OpencodeState, type Step, type ToolCall } from './translation-state.ts';

/**
 * A tool's call as it is now.
 *
 * **Contract:** it is started once, when its input is whole or when it is to be approved; ended once, with the files that it
 * changed.
 */
export function toolUpdated(state: OpencodeState, part: Part, kept: Kept): Step {
  const { status } = part.state;
  const known = entryOf(state.tools, part.id) ?? callOf(part);
  if (known.isDone || part.state.time.compacted != null) return quiet(state, 'of a tool that has ended');
  if (status === 'pending' || status === '') {
    return quiet(withTool(state, part.id, known), 'a tool call is said when its input is known');
  }
  const begun = begunOf(state, part, { ...known, isDone: status !== 'running' });
  const launched = childLaunched(begun.state, part);
  const before = [...begun.bodies, ...launched.bodies];
  if (status === 'running') return saying(launched.state, before, { why: 'nothing new of the tool' });
  const changes = changedFiles(changesOfTool(part), kept, launched.state);
  const ended = childEndedByTool(withChanges(launched.state, changes), part);
  return saying(ended.state, [...before, ...ended.bodies, ...completed(part, kept), ...changes]);
}

/** The platform asks; here only the tool is said, for the case that it was not. */
export function permissionAsked(state: OpencodeState, asked: PermissionAsked): Step {
  const [partId, known] = state.tools.find(([, call]) => isCallOf(call, asked)) ?? [];
  if (partId === undefined || known === undefined || known.input !== null) return quiet(state, 'the platform asks');
  const input = asked.metadata;
  const next = withTool(state, partId, { ...known, input: hashText(JSON.stringify(input)) });
  return saying(next, [started({ id: partId, name: known.name, input, title: '', status: 'pending' })]);
}

/** What a command prints. */
export function toolPrinted(state: OpencodeState, { partID, delta }: { partID: string; delta: string }): Step {
  return saying(state, delta === '' ? [] : [{ kind: 'terminal.output', terminalId: partID, chunk: delta }], {
    why: 'no output',
  });
}

function isCallOf({ sessionId, callId }: ToolCall, { sessionID, tool }: PermissionAsked): boolean {
  return sessionId === sessionID && callId === tool?.callID;
}

function begunOf(state: OpencodeState, part: Part, known: ToolCall): { state: OpencodeState; bodies: CanonicalBody[] } {
  const { input, title, status } = part.state;
  const text = JSON.stringify(input);
  const hash = hashText(text);
  const next = withTool(state, part.id, { ...known, input: hash });
  if (known.input === null)
    return { state: next, bodies: [started({ id: part.id, name: known.name, input, title, status })] };
  if (known.input === hash) return { state: next, bodies: [] };
  // it was said with what its approval showed of its input
  const preview = previewText(text, PREVIEW_LIMIT_CHARS);
  return { state: next, bodies: [{ kind: 'tool.progress', toolCallId: part.id, preview, nativeStatus: status }] };
}

function started(call: {
  readonly id: string;
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly title: string;
  readonly status: string;
}): CanonicalBody {
  const title = titleOf(call.input, call.title);
  return {
    kind: 'tool.started',
    toolCallId: call.id,
    name: call.name === '' ? 'tool' : call.name,
    ...(title === '' ? {} : { title }),
    input: previewInput(call.input),
    nativeStatus: call.status,
  };
}

function completed(part: Part, kept: Kept): CanonicalBody[] {
  const error = faultOf(part);
  const preview = previewText(part.state.output, PREVIEW_LIMIT_CHARS);
  const created: CanonicalBody[] = kept.output === undefined ? [] : [{ kind: 'artifact.created', ...kept.output }];
  return [
    {
      kind: 'tool.completed',
      toolCallId: part.id,
      status: error === null ? 'ok' : 'error',
      ...(preview === '' ? {} : { preview }),
      ...(kept.output === undefined ? {} : { artifact: kept.output.artifact }),
      ...(error === null ? {} : { error }),
      nativeStatus: part.state.status,
      ...durationOf(part),
    },
    ...created,
  ];
}

function withTool(state: OpencodeState, partId: string, call: ToolCall): OpencodeState {
  return { ...state, tools: withEntry(state.tools, partId, call, TABLE_LIMITS.tools) };
}

function callOf({ sessionID, tool, callID }: Part): ToolCall {
  return { sessionId: sessionID, name: tool, callId: callID, input: null, isDone: false };
}
