import { z } from 'zod';
import type { ServerAnswer, ServerCall } from './call-frames.ts';
import { Session, SessionStatus, type ServerEvent } from './opencode-schema.ts';
import { messagesIn, messagesOfRun, type StoredMessage } from './stored-messages.ts';

/** A turn has hundreds of messages at most. */
const MESSAGES_READ = 500;

const Listed = z.array(z.record(z.string(), z.unknown())).catch([]);
const Owned = z.object({ sessionID: z.string() });

export interface CatchUp {
  readonly sessionId: string;
  readonly runId: string;
  readonly get: (path: string) => Promise<unknown>;
  /** Whether the end of a part was heard before. */
  readonly hasEnded: (partId: string) => boolean;
}

/**
 * What a turn has said and done by now, as the events that would have told it: for who has missed some of them. What is asked of a
 * person comes last but one, and last whether the session still works.
 */
export async function missedEvents({ sessionId, runId, get, hasEnded }: CatchUp): Promise<ServerEvent[]> {
  const own = messagesOfRun(await get(messagesPath(sessionId)), runId) ?? [];
  const children = Listed.parse(await get(`/session/${sessionId}/children`)).flatMap((info) => {
    const id = Session.safeParse(info).data?.id;
    return id === undefined ? [] : [{ id, info }];
  });
  const known = new Set([sessionId, ...children.map(({ id }) => id)]);
  const begun = children.map(({ id, info }) => event('session.created', { sessionID: id, info }));
  const said = [{ id: sessionId, messages: own }];
  for (const { id } of children) said.push({ id, messages: messagesIn(await get(messagesPath(id))) });
  const told = said.flatMap(({ id, messages }) => messages.flatMap((message) => eventsOf(id, message, hasEnded)));
  const todos = Listed.parse(await get(`/session/${sessionId}/todo`));
  const planned = todos.length === 0 ? [] : [event('todo.updated', { sessionID: sessionId, todos })];
  const asked = [...(await openRequests('permission')), ...(await openRequests('question'))];
  return [...begun, ...told, ...planned, ...asked, ...(await statuses())];

  async function openRequests(kind: 'permission' | 'question'): Promise<ServerEvent[]> {
    const requests = Listed.parse(await get(`/${kind}`));
    return requests
      .filter((request) => known.has(Owned.safeParse(request).data?.sessionID ?? ''))
      .map((request) => event(`${kind}.asked`, request));
  }

  /** A session that does nothing is not listed, nor is one whose turn has yet to begin: it has no answer then. */
  async function statuses(): Promise<ServerEvent[]> {
    const listed = z
      .record(z.string(), z.unknown())
      .catch({})
      .parse(await get('/session/status'));
    const answered = new Set(said.filter(({ messages }) => messages.some(isAnswer)).map(({ id }) => id));
    return [...known].toReversed().flatMap((sessionID) => {
      const status = SessionStatus.safeParse({ sessionID, status: listed[sessionID] }).data?.status;
      const works = status !== undefined && status.type !== 'idle';
      if (works) return [event('session.status', { sessionID, status })];
      return answered.has(sessionID) ? [event('session.idle', { sessionID })] : [];
    });
  }
}

/** Reads from the server, and rejects what is no answer to it. */
export async function read(call: (call: ServerCall) => Promise<ServerAnswer>, path: string): Promise<unknown> {
  const { status, body } = await call({ method: 'GET', path });
  return status === 200 ? body : null;
}

export function messagesPath(sessionId: string): string {
  return `/session/${sessionId}/message?limit=${String(MESSAGES_READ)}`;
}

function isAnswer({ info }: StoredMessage): boolean {
  return info['role'] === 'assistant';
}

function eventsOf(sessionID: string, { info, parts }: StoredMessage, hasEnded: CatchUp['hasEnded']): ServerEvent[] {
  const unheard = parts.filter(({ id }) => typeof id !== 'string' || !hasEnded(id));
  return [
    event('message.updated', { sessionID, info }),
    ...unheard.map((part) => event('message.part.updated', { sessionID, part })),
  ];
}

function event(type: string, properties: Readonly<Record<string, unknown>>): ServerEvent {
  return { id: null, type, properties: { ...properties } };
}
