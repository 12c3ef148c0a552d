/** One Server-Sent Event. `data` must hold no raw line break: JSON text never does. */
interface SseFrame {
  /** Only a delivery has one (design §6): a control frame with an id would move the client's cursor past real events. */
  readonly id?: number;
  readonly event: string;
  readonly data: string;
}

/** The first bytes of every stream: proof that it is open, and how long a client waits before it comes back. */
export const SSE_OPEN = ': open\nretry: 1000\n\n';

/** A comment that keeps proxies and clients sure of a quiet stream. */
export const SSE_PING = ': ping\n\n';

export function sseFrame({ id, event, data }: SseFrame): string {
  return `${id === undefined ? '' : `id: ${String(id)}\n`}event: ${event}\ndata: ${data}\n\n`;
}

/** Moves the client's cursor and shows it nothing: a block without data dispatches no event. */
export function sseCursor(id: number): string {
  return `id: ${String(id)}\n\n`;
}
