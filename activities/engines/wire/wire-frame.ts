import type { NativeFrame } from '../../../contract/frames.ts';

/** A JSON-RPC message, with or without the `jsonrpc` field. */
export interface WireMessage {
  readonly id?: string | number | null;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}

/**
 * A JSON-RPC message as a lane keeps it. `type` is the method; of an answer, the method that it answers with `:result` or
 * `:error` behind it. `dir` says who sent it: `recv` the engine, `send` we.
 */
export interface WireFrame extends NativeFrame {
  readonly dir: 'recv' | 'send';
  readonly id?: string | number;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
  /** What a driver took out of the frame because it is large: by its place, see the driver. */
  readonly kept?: unknown;
}

/** Turns the messages of one connection into frames: it remembers which method an answer is to. */
export class WireFrames {
  readonly #asked = { recv: new Map<string, string>(), send: new Map<string, string>() };

  frameOf(dir: WireFrame['dir'], message: WireMessage): WireFrame {
    const { id, method, params, result, error } = message;
    const key = JSON.stringify(id ?? null);
    const ids = id === undefined || id === null ? {} : { id };
    if (method !== undefined) {
      if (id !== undefined && id !== null) this.#asked[dir].set(key, method);
      return { type: method, dir, ...ids, ...(params === undefined ? {} : { params }) };
    }
    const asked = this.#asked[dir === 'recv' ? 'send' : 'recv'];
    const answered = asked.get(key) ?? 'unknown';
    asked.delete(key);
    return error === undefined
      ? { type: `${answered}:result`, dir, ...ids, result: result ?? null }
      : { type: `${answered}:error`, dir, ...ids, error };
  }
}
