import { z } from 'zod';
import type { NativeFrame } from '../../../contract/frames.ts';
import { entryOf, withEntry } from '../bounded-table.ts';
import { childEnded, childSeen } from './children.ts';
import { translateCustom } from './custom-frames.ts';
import { translateMessageEvent } from './protocol-messages.ts';
import type { Scribe } from './scribe.ts';
import { namespaceOf, speakerIn } from './speakers.ts';
import { toolEventOf, translateTools } from './tool-frames.ts';
import { TABLE_LIMITS } from './translation-state.ts';
import { translateUpdate } from './update-frames.ts';

const text = z.string().catch('');
const Params = z.object({ namespace: z.unknown().optional(), data: z.unknown().optional() });
const Update = z.object({ node: text, values: z.unknown().optional() });
const Lifecycle = z.object({ event: z.string(), error: z.unknown().optional() });
const Payload = z.object({ payload: z.unknown() });

/** Channels whose news other events say. */
const QUIET: Readonly<Record<string, string>> = {
  values: 'the whole state, whose changes are said',
  tasks: 'bookkeeping of the graph',
  checkpoints: 'bookkeeping of the graph',
  'input.answered': 'the platform says what a person decided',
};

/**
 * An event of the protocol of `streamEvents(…, { version: 'v3' })`.
 *
 * **Contract:** gives why nothing was said, for the case that nothing was; null for an event that the protocol does not have.
 */
export function translateEvent(scribe: Scribe, frame: NativeFrame): string | null {
  const params = Params.safeParse(frame['params']).data;
  if (params === undefined) return null;
  const { data } = params;
  const namespace = namespaceOf(params.namespace);
  const method = String(frame['method']);
  switch (method) {
    case 'messages':
    case 'tools':
      return ofNode(scribe, { namespace, data, frame });
    case 'updates':
    case 'custom':
      return ofGraph(scribe, { namespace, data, frame });
    case 'input.requested':
      scribe.remember({ isAsking: true });
      return 'the platform asks';
    case 'lifecycle':
      return lifecycle(scribe, { namespace, data });
    default:
      return Object.hasOwn(QUIET, method) ? (QUIET[method] ?? null) : null;
  }
}

interface Told {
  readonly namespace: readonly string[];
  readonly data: unknown;
  readonly frame: NativeFrame;
}

/** What a node tells comes from its own place. A model speaks there; a call is of the graph, which has all but the last segment. */
function ofNode(scribe: Scribe, { namespace, data, frame }: Told): string | null {
  const isMessage = frame['method'] === 'messages';
  const speaker = speakerIn(isMessage ? namespace : namespace.slice(0, -1));
  childSeen(scribe, speaker);
  if (isMessage) return translateMessageEvent(scribe, speaker, { data, place: namespace.join('|') });
  const event = toolEventOf(data);
  const place = namespace.at(-1);
  if (event === null) return null;
  if (place !== undefined) launched(scribe, place, event.toolCallId);
  return translateTools(scribe, speaker, { event, frame });
}

function ofGraph(scribe: Scribe, { namespace, data, frame }: Told): string | null {
  const speaker = speakerIn(namespace);
  childSeen(scribe, speaker);
  if (frame['method'] === 'custom')
    return translateCustom(scribe, speaker, Payload.safeParse(data).data?.payload ?? data);
  const update = Update.safeParse(data).data;
  return update === undefined ? null : translateUpdate(scribe, speaker, { values: undefined, ...update, frame });
}

function launched(scribe: Scribe, place: string, toolCallId: string): void {
  const { launches } = scribe.state;
  const known = entryOf(launches, place);
  const call = known === undefined || known === toolCallId ? toolCallId : null;
  scribe.remember({ launches: withEntry(launches, place, call, TABLE_LIMITS.launches) });
}

/** A sub-agent's place is that of its call, and ends with it. */
function lifecycle(scribe: Scribe, { namespace, data }: Omit<Told, 'frame'>): string | null {
  const told = Lifecycle.safeParse(data).data;
  if (told === undefined) return null;
  const place = namespace.at(-1) ?? '';
  if (told.event === 'completed') childEnded(scribe, place, { status: 'ok', output: '' });
  if (told.event === 'failed') childEnded(scribe, place, { status: 'error', output: told.error });
  return 'bookkeeping of the graph';
}
