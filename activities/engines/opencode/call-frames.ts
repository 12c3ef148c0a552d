import type { WireFrame } from '../wire/wire-frame.ts';

/** A request of ours to the server. */
export interface ServerCall {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: unknown;
}

export interface ServerAnswer {
  readonly status: number;
  readonly body: unknown;
}

const ID = /\/[a-z]{3}_[^/]+/g;

/** A request as a lane keeps it: its type is its method and its path, with `*` for each id. */
export function callFrame(id: number, { method, path, body }: ServerCall): WireFrame {
  return {
    type: nameOf(method, path),
    dir: 'send',
    id,
    ...(body === undefined ? {} : { params: { path, ...fieldsOf(body) } }),
  };
}

/** What the server answered: `:result` or `:error` stands behind the request's type. */
export function answerFrame(id: number, { method, path }: ServerCall, { status, body }: ServerAnswer): WireFrame {
  const type = nameOf(method, path);
  return status >= 200 && status < 300
    ? { type: `${type}:result`, dir: 'recv', id, result: body }
    : { type: `${type}:error`, dir: 'recv', id, error: { status, body } };
}

function nameOf(method: string, path: string): string {
  return `${method} ${path.replaceAll(ID, '/*')}`;
}

function fieldsOf(body: unknown): object {
  return typeof body === 'object' && body !== null ? body : { body };
}
