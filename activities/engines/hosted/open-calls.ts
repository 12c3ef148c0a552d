import type { CanonicalBody } from '../../../contract/canonical.ts';
import { previewText } from '../../../contract/frames.ts';
import { PREVIEW_LIMIT_CHARS, previewInput } from '../../../contract/platform-frames.ts';
import type { FrameContext } from '../../../contract/translation.ts';
import { entryOf, withEntry, withoutEntry, type BoundedTable } from '../bounded-table.ts';
import type { NamedArtifact } from '../named-artifact.ts';
import { shownValue } from './shown-value.ts';
import { fileChangeOfTool } from './tool-file-change.ts';
import { planOfTool } from './tool-plan.ts';

const REMEMBERED = 200;
const TITLE_CHARS = 300;
const INPUT_TEXT_CHARS = 500;
/** What `previewText` leaves where it cuts. */
const CUT = /\.\.\.\[\d+ chars\]/;

/** The tool calls of a run: plain JSON. */
export interface ToolCalls {
  /** Those without a result, by the library's id. */
  readonly open: BoundedTable<OpenCall>;
  /** Those that ended, the newest last. */
  readonly ended: readonly string[];
  /** How often a call was said under another id than its own. */
  readonly renamed: number;
  /** The attempt at a step that is under way. */
  readonly attempt: string;
}

export interface OpenCall {
  /** The id under which it is said: the library's own, unless that was another call's before. */
  readonly shownId: string;
  /** How its begin is said. */
  readonly started: CanonicalBody<'tool.started'>;
  /** The sub-agent that made it. */
  readonly speaker: string | null;
  /** Its input as JSON, its long texts cut. */
  readonly input: string;
  /** What it will have changed where it goes well. */
  readonly effects: readonly CanonicalBody[];
  /** Nothing was heard of it in the attempt that is under way. */
  readonly isStale: boolean;
}

export const NO_CALLS: ToolCalls = { open: [], ended: [], renamed: 0, attempt: '' };

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

/** Names an attempt at a step. */
export function attemptOf({ stepIndex, attempt }: FrameContext): string {
  return `${String(stepIndex)}.${String(attempt)}`;
}

/**
 * The calls as they stand in an attempt.
 *
 * **Contract:** where a run parks, or loses its worker, the platform ends every call that is open. One that goes on afterwards is said
 * as another one, and of one that does not nothing more is said.
 */
export function callsIn(calls: ToolCalls, attempt: string): ToolCalls {
  if (calls.attempt === attempt) return calls;
  const open = calls.open.map(([id, call], index) => {
    const shownId = `${id}.${String(calls.renamed + index + 1)}`;
    return [id, { ...call, shownId, started: { ...call.started, toolCallId: shownId }, isStale: true }] as const;
  });
  return { ...calls, open, renamed: calls.renamed + open.length, attempt };
}

export function hasEnded(calls: ToolCalls, id: string): boolean {
  return calls.ended.includes(id);
}

/**
 * What a call begins with, as far as it was not said.
 *
 * **Contract:** an input that was changed since is said as its progress. Some models number the calls of each answer anew: a call
 * under the id of one that ended is another one.
 */
export function beginCall(calls: ToolCalls, call: Call): { calls: ToolCalls; open: OpenCall; bodies: CanonicalBody[] } {
  const { id, name, input } = call;
  const known = entryOf(calls.open, id);
  const text = inputText(input);
  const keeping = (open: OpenCall) => ({ ...calls, open: withEntry(calls.open, id, open, REMEMBERED) });
  if (known === undefined) {
    const renamed = hasEnded(calls, id) ? calls.renamed + 1 : calls.renamed;
    const shownId = hasEnded(calls, id) ? `${id}.${String(renamed)}` : id;
    const started = startOf(call, shownId);
    const { speaker = null } = call;
    const open = { shownId, started, speaker, input: text, effects: effectsOf(name, input), isStale: false };
    const ended = calls.ended.filter((one) => one !== id);
    return { calls: { ...keeping(open), ended, renamed }, open, bodies: [started] };
  }
  const begin = known.isStale ? [known.started] : [];
  if (!isChanged(known.input, text)) {
    const open = { ...known, isStale: false };
    return { calls: known.isStale ? keeping(open) : calls, open, bodies: begin };
  }
  const open = { ...known, input: text, effects: effectsOf(name, input), isStale: false };
  return {
    calls: keeping(open),
    open,
    bodies: [...begin, { kind: 'tool.progress', toolCallId: known.shownId, preview: text }],
  };
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
  const begin = open.isStale ? [open.started] : [];
  const next = { ...calls, open: withoutEntry(calls.open, id), ended };
  return { calls: next, open, bodies: [...begin, ...endOf(open, end)] };
}

/** Ends every call that the run's end cuts off. */
export function callsCutOff(calls: ToolCalls): { calls: ToolCalls; cut: { open: OpenCall; body: CanonicalBody }[] } {
  const standing = calls.open.filter(([, open]) => !open.isStale);
  const cut = standing.map(([, open]) => {
    return { open, body: { kind: 'tool.completed', toolCallId: open.shownId, ...CANCELLED } as const };
  });
  const ended = [...calls.ended, ...calls.open.map(([id]) => id)].slice(-REMEMBERED);
  return { calls: { ...calls, open: [], ended }, cut };
}

function startOf({ name, title, input }: Call, toolCallId: string): CanonicalBody<'tool.started'> {
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

function effectsOf(name: string, input: unknown): CanonicalBody[] {
  return [planOfTool(name, input), fileChangeOfTool(name, input)].filter((body) => body !== null);
}

function inputText(input: unknown): string {
  if (typeof input !== 'object' || input === null) return shownValue(input);
  const cut = Object.entries(input).map(([key, value]: [string, unknown]) => {
    return [key, typeof value === 'string' ? previewText(value, INPUT_TEXT_CHARS) : value];
  });
  return shownValue(Object.fromEntries(cut));
}

/** An input that was cut, here or on its way, is cut otherwise the next time: that is no change. */
function isChanged(before: string, now: string): boolean {
  return now !== '' && now !== before && !CUT.test(before) && !CUT.test(now);
}
