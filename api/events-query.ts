import type { Request } from 'express';
import { CANONICAL_KINDS } from '../contract/canonical.ts';
import { TidemarkError } from '../contract/errors.ts';
import { RunId } from '../contract/ids.ts';
import { readCursor } from './cursor.ts';
import { deliveryFilter, type DeliveryFilter } from './delivery-filter.ts';
import type { EventsForm } from './negotiate.ts';
import type { Heartbeat } from './open-streams.ts';

/** What a client asks of a thread's log. */
export interface EventsQuery {
  /** Where it starts: behind a cursor, at the head (`tail=1`), or at the first delivery that is there (`from=oldest`). */
  readonly after: number | 'head' | 'oldest';
  readonly filter: DeliveryFilter | null;
  readonly heartbeat: Heartbeat;
  readonly limit: number;
  readonly waitMs: number;
}

const LIMIT = { least: 1, most: 1_000, usual: 500 };
const WAIT_SECONDS_MOST = 30;

const PARAMETERS: Readonly<Record<EventsForm, readonly string[]>> = {
  sse: ['after', 'from', 'tail', 'kinds', 'run_id', 'heartbeat'],
  json: ['after', 'from', 'tail', 'kinds', 'run_id', 'limit', 'wait'],
};

/**
 * Reads the query of a request for a thread's events.
 *
 * **Contract:** strict: what is unknown, given twice or not spelled as documented is an error that names it.
 */
export function readEventsQuery(req: Request, form: EventsForm): EventsQuery {
  const params = new URL(req.url, 'http://gateway').searchParams;
  const known = PARAMETERS[form];
  const unknown = [...new Set(params.keys())].filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    throw invalid(unknown.join(', '), 'not known here', `Use only ${known.join(', ')}.`);
  }
  const read = (name: string): string | undefined => only(params, name);
  const after = readCursor(lastEventId(req), readAfter(params));
  const tail = readFlag('tail', read('tail'));
  if (tail && params.has('after')) throw invalid('tail', 'no use together with after', 'Send one of the two.');
  const fromOldest = readFrom(read('from'));
  if (fromOldest && (tail || params.has('after'))) {
    throw invalid('from', 'no use together with after or tail', 'Send one of the three.');
  }
  return {
    after: after ?? (tail ? 'head' : fromOldest ? 'oldest' : 0),
    filter: deliveryFilter(readKinds(read('kinds')), readRunId(read('run_id'))),
    heartbeat: readHeartbeat(read('heartbeat')),
    limit: readNumber('limit', read('limit'), LIMIT.least, LIMIT.most) ?? LIMIT.usual,
    waitMs: (readNumber('wait', read('wait'), 0, WAIT_SECONDS_MOST) ?? 0) * 1_000,
  };
}

/** Node joins a header that came twice with a comma, which no cursor holds. */
export function lastEventId(req: Request): string | undefined {
  const value = req.headers['last-event-id'];
  return Array.isArray(value) ? value.join(',') : value;
}

function readAfter(params: URLSearchParams): string | undefined {
  const values = params.getAll('after');
  return values.length === 0 ? undefined : values.join(',');
}

function only(params: URLSearchParams, name: string): string | undefined {
  const values = params.getAll(name);
  if (values.length > 1) throw invalid(name, 'given twice', 'Send it once.');
  return values[0];
}

function readFlag(name: string, value: string | undefined): boolean {
  if (value === undefined || value === '0') return false;
  if (value === '1') return true;
  throw invalid(name, 'neither 0 nor 1', `Send ${name}=1, or leave it out.`);
}

function readFrom(value: string | undefined): boolean {
  if (value === undefined) return false;
  if (value === 'oldest') return true;
  throw invalid('from', 'not a place to start from', 'Send from=oldest, or leave it out.');
}

function readKinds(value: string | undefined): readonly string[] | null {
  if (value === undefined) return null;
  const kinds = value.split(',');
  const unknown = kinds.filter((kind) => !(CANONICAL_KINDS as readonly string[]).includes(kind));
  if (unknown.length === 0) return kinds;
  const shown = unknown.map((kind) => JSON.stringify(kind.slice(0, 40))).join(', ');
  throw invalid(
    'kinds',
    `not all kinds of event: ${shown}`,
    `Separate kinds by commas: ${CANONICAL_KINDS.join(', ')}.`,
  );
}

function readRunId(value: string | undefined): string | null {
  if (value === undefined) return null;
  if (RunId.safeParse(value).success) return value;
  throw invalid('run_id', 'not a run id', 'Send the run_id of a run of this thread.');
}

function readHeartbeat(value: string | undefined): Heartbeat {
  if (value === undefined || value === 'comment') return 'comment';
  if (value === 'event') return 'event';
  throw invalid('heartbeat', 'not a kind of heartbeat', 'Send heartbeat=event, or leave it out for comments.');
}

function readNumber(name: string, value: string | undefined, least: number, most: number): number | null {
  if (value === undefined) return null;
  const number = Number(value);
  if (/^\d{1,6}$/.test(value) && number >= least && number <= most) return number;
  throw invalid(name, 'out of range', `Send a whole number from ${String(least)} to ${String(most)}.`);
}

function invalid(parameter: string, problem: string, remedy: string): TidemarkError {
  const message = `the query parameter ${parameter.slice(0, 200)} is ${problem}`;
  return new TidemarkError('invalid_request', message, remedy, { facts: { parameter: parameter.slice(0, 200) } });
}
