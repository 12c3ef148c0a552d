import type { CanonicalBody } from '../../../contract/canonical.ts';
import { previewText } from '../../../contract/frames.ts';
import { PREVIEW_LIMIT_CHARS, previewInput } from '../../../contract/platform-frames.ts';
import { entryOf, withEntry, withoutEntry, type BoundedTable } from '../acp/bounded-table.ts';
import type { NamedArtifact } from '../named-artifact.ts';
import { shownValue } from './shown-value.ts';
import { fileChangeOfTool } from './tool-file-change.ts';
import { planOfTool } from './tool-plan.ts';

const REMEMBERED = 200;
const TITLE_CHARS = 300;

/** The tool calls of a run: plain JSON. */
export interface ToolCalls {
  /** Those without a result, by the library's id. */
  readonly open: BoundedTable<OpenCall>;
  /** Those that ended, the newest last. */
  readonly ended: readonly string[];
  /** How often a call came under the id of one that had ended. */
  readonly repeats: number;
}

export interface OpenCall {
  /** The id under which it is said: the library's own, unless that was another call's before. */
  readonly shownId: string;
  readonly name: string;
  /** The sub-agent that made it. */
  readonly speaker: string | null;
  /** The beginning of its input, as a text. */
  readonly input: string;
  /** What it will have changed where it goes well. */
  readonly effects: readonly CanonicalBody[];
}

export const NO_CALLS: ToolCalls = { open: [], ended: [], repeats: 0 };

export interface Call {
  readonly id: string;
  readonly name: string;
  readonly title?: string | null | undefined;
  readonly input?: unknown;
  readonly speaker?: string | null;
}

export type CallEnd =
  | { readonly status: 'ok'; readonly output: unknown; readonly kept?: NamedArtifact | undefined }
  | { readonly status: 'error'; readonly error: string; readonly nativeStatus?: string };

export const DENIED = { status: 'error', error: 'denied', nativeStatus: 'denied' } as const satisfies CallEnd;
const CANCELLED = { status: 'error', error: 'cancelled', nativeStatus: 'cancelled' } as const satisfies CallEnd;

/** How a call ends that a person or a rule has refused. */
export function deniedFor(reason: string | null | undefined): CallEnd {
  if (reason == null || reason === '') return DENIED;
  return { ...DENIED, error: previewText(`denied: ${reason}`, PREVIEW_LIMIT_CHARS) };
}

export function hasEnded(calls: ToolCalls, id: string): boolean {
  return calls.ended.includes(id);
}

/** Some models number the calls of each answer anew: a call under the id of one that ended is another one. */
export function reopened(calls: ToolCalls, id: string): ToolCalls {
  if (!hasEnded(calls, id)) return calls;
  return { ...calls, ended: calls.ended.filter((one) => one !== id), repeats: calls.repeats + 1 };
}

/** What a call begins with, as far as it was not said. An input that was changed since is said as its progress. */
export function beginCall(calls: ToolCalls, call: Call): { calls: ToolCalls; open: OpenCall; bodies: CanonicalBody[] } {
  const { id, name, input } = call;
  const known = entryOf(calls.open, id);
  const text = input === undefined ? '' : shownValue(input);
  if (known !== undefined && (text === '' || text === known.input)) return { calls, open: known, bodies: [] };
  const shownId = known?.shownId ?? (calls.repeats === 0 ? id : `${id}.${String(calls.repeats)}`);
  const effects = [planOfTool(name, input), fileChangeOfTool(name, input)].filter((body) => body !== null);
  const open: OpenCall = { shownId, name, speaker: known?.speaker ?? call.speaker ?? null, input: text, effects };
  const body: CanonicalBody =
    known === undefined ? started(call, shownId) : { kind: 'tool.progress', toolCallId: shownId, preview: text };
  return { calls: { ...calls, open: withEntry(calls.open, id, open, REMEMBERED) }, open, bodies: [body] };
}

/** A call's end and what it changed; of a call that is not open nothing is said. */
export function endCall(
  calls: ToolCalls,
  id: string,
  end: CallEnd,
): { calls: ToolCalls; open: OpenCall | null; bodies: CanonicalBody[] } {
  const open = entryOf(calls.open, id);
  if (open === undefined) return { calls, open: null, bodies: [] };
  const ended = [...calls.ended, id].slice(-REMEMBERED);
  const next = { ...calls, open: withoutEntry(calls.open, id), ended };
  return { calls: next, open, bodies: endOf(open, end) };
}

/** Ends every call that the run's end cuts off. */
export function callsCutOff(calls: ToolCalls): { calls: ToolCalls; cut: { open: OpenCall; body: CanonicalBody }[] } {
  const cut = calls.open.map(([, open]) => {
    return { open, body: { kind: 'tool.completed', toolCallId: open.shownId, ...CANCELLED } as const };
  });
  const ended = [...calls.ended, ...calls.open.map(([id]) => id)].slice(-REMEMBERED);
  return { calls: { ...calls, open: [], ended }, cut };
}

function started({ name, title, input }: Call, toolCallId: string): CanonicalBody {
  return {
    kind: 'tool.started',
    toolCallId,
    name,
    ...(title == null || title === '' ? {} : { title: previewText(title, TITLE_CHARS) }),
    ...(input === undefined ? {} : { input: previewInput(input) }),
  };
}

function endOf({ shownId: toolCallId, effects }: OpenCall, end: CallEnd): CanonicalBody[] {
  if (end.status === 'error') return [{ kind: 'tool.completed', toolCallId, ...end }];
  const { output, kept } = end;
  const preview = shownValue(output);
  const completed: CanonicalBody = {
    kind: 'tool.completed',
    toolCallId,
    status: 'ok',
    ...(preview === '' ? {} : { preview }),
    ...(kept === undefined ? {} : { artifact: kept.artifact }),
  };
  return [completed, ...(kept === undefined ? [] : [{ kind: 'artifact.created' as const, ...kept }]), ...effects];
}
