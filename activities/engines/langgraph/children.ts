import type { CanonicalBody } from '../../../contract/canonical.ts';
import { parseJsonObject } from '../../../contract/json-object.ts';
import { previewText } from '../../../contract/frames.ts';
import { PREVIEW_LIMIT_CHARS } from '../../../contract/platform-frames.ts';
import { entryOf, withEntry, withoutEntry } from '../bounded-table.ts';
import { attemptOf, type OpenCall } from '../hosted/open-calls.ts';
import { textsEnded } from '../hosted/open-texts.ts';
import { shownValue } from '../hosted/shown-value.ts';
import { withTokens, type Tokens } from '../hosted/tokens.ts';
import type { Scribe } from './scribe.ts';
import { placeOf, type Speaker } from './speakers.ts';
import { TABLE_LIMITS } from './translation-state.ts';

/** The tool of deepagents that delegates; others are named for what they do. */
const DELEGATING = /^task$|agent/i;

/**
 * Says a sub-agent that is heard of for the first time in an attempt: what was open in the one before the platform has ended.
 *
 * **Contract:** the library tells its namespace and not its call. The call is the one that `launches` names, else the only one that can
 * be meant; of several possible ones none is claimed.
 */
export function childSeen(scribe: Scribe, speaker: Speaker): void {
  const { child, parent } = speaker;
  const { children, gone } = scribe.state;
  if (child === null || gone.includes(child)) return;
  const saidIn = attemptOf(scribe.context);
  const known = entryOf(children, child);
  if (known?.saidIn === saidIn) return;
  if (parent !== null) childSeen(scribe, { child: parent, parent: null });
  const call = known === undefined ? launchOf(scribe, speaker) : known.call;
  const open = call === null ? undefined : entryOf(scribe.state.calls.open, call);
  const seen = { call, used: known?.used ?? {}, saidIn };
  scribe.remember({ children: withEntry(scribe.state.children, child, seen, TABLE_LIMITS.children) });
  scribe.say(speaker, {
    kind: 'child.started',
    childId: child,
    ...(parent === null ? {} : { parentChildId: parent }),
    ...(open === undefined ? {} : { launchToolCallId: open.shownId, ...taskOf(open) }),
  });
}

export function childUsed(scribe: Scribe, speaker: Speaker & { child: string }, tokens: Tokens): void {
  const known = entryOf(scribe.state.children, speaker.child);
  if (known === undefined) return;
  const used = withTokens(known.used, tokens);
  scribe.remember({
    children: withEntry(scribe.state.children, speaker.child, { ...known, used }, TABLE_LIMITS.children),
  });
  const usage = Object.fromEntries(Object.entries(used).filter((entry) => entry[1] !== undefined));
  scribe.say(speaker, { kind: 'child.updated', childId: speaker.child, status: 'running', state: { usage } });
}

export function childAtWork(scribe: Scribe, speaker: Speaker, lastToolName: string): void {
  if (speaker.child === null || entryOf(scribe.state.children, speaker.child) === undefined) return;
  scribe.say(speaker, { kind: 'child.updated', childId: speaker.child, status: 'running', state: { lastToolName } });
}

interface End {
  readonly status: 'ok' | 'error';
  readonly output: unknown;
}

/** The end of a call: that of every sub-agent that works for it. */
export function childrenOfCallEnded(scribe: Scribe, call: string, end: End): void {
  for (const [child, known] of scribe.state.children) if (known.call === call) childEnded(scribe, child, end);
}

/**
 * A result has come out of a place: the sub-agents in there are over.
 *
 * **Contract:** the result is a sub-agent's where it is the only one; one that is known to work for another call ends with that.
 */
export function childrenInPlaceEnded(scribe: Scribe, { place, call }: { place: string; call: string }, end: End): void {
  const inPlace = scribe.state.children.filter(([child]) => placeOf(child) === place);
  const over = inPlace.filter(([, known]) => known.call === null || known.call === call);
  const ending: End = inPlace.length === 1 ? end : { status: 'ok', output: '' };
  for (const [child] of over) childEnded(scribe, child, ending);
}

export function childEnded(scribe: Scribe, child: string, { status, output }: End): void {
  if (entryOf(scribe.state.children, child) === undefined) return;
  const { texts, ended } = textsEnded(scribe.state.texts, child);
  const children = withoutEntry(scribe.state.children, child);
  scribe.remember({ texts, children, gone: [...scribe.state.gone, child].slice(-TABLE_LIMITS.children) });
  const result = shownValue(output);
  const completed: CanonicalBody = {
    kind: 'child.completed',
    childId: child,
    status,
    ...(result === '' ? {} : { result }),
  };
  scribe.say({ child, parent: null }, ...ended.map(({ body }) => body), completed);
}

function launchOf(scribe: Scribe, { child, parent }: Speaker): string | null {
  const { calls, children, launches } = scribe.state;
  const named = entryOf(launches, placeOf(child ?? ''));
  if (named !== undefined) return named;
  const taken = new Set(children.map(([, known]) => known.call));
  const possible = calls.open.filter(([id, open]) => open.speaker === parent && !taken.has(id));
  const delegating = possible.filter(([, open]) => DELEGATING.test(open.started.name));
  const [first, ...others] = delegating.length > 0 ? delegating : possible;
  return first === undefined || others.length > 0 ? null : first[0];
}

/** What the sub-agent is and was told, as far as its call says it. */
function taskOf({ started, input }: OpenCall): { title: string; state?: { prompt?: string; role?: string } } {
  const { description, prompt = description, task = prompt, subagent_type: role } = parseJsonObject(input) ?? {};
  const state = {
    ...(typeof task === 'string' ? { prompt: previewText(task, PREVIEW_LIMIT_CHARS) } : {}),
    ...(typeof role === 'string' ? { role } : {}),
  };
  return {
    title: typeof role === 'string' && role !== '' ? role : started.name,
    ...(Object.keys(state).length === 0 ? {} : { state }),
  };
}
