import { MESSAGE_LIMIT } from './message-limit.ts';

const LF = 10;
const CR = 13;

/**
 * A response whose body ends in an error once one message of it is over the limit: of a stream of events one event, of anything
 * else the whole. `onBroken` is told when the body breaks off, for that or any other reason but the reader's own.
 */
export function boundedBody(response: Response, onBroken: () => void): Response {
  const { body, status, statusText, headers } = response;
  if (body === null) return response;
  const isStream = headers.get('content-type')?.toLowerCase().startsWith('text/event-stream') ?? false;
  const size = isStream ? eventSize() : totalSize();
  const reader = body.getReader();
  let isLeft = false;
  const bounded = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (isLeft) return;
        if (done) return controller.close();
        if (size(value) > MESSAGE_LIMIT) throw new Error('a message is over the limit');
        controller.enqueue(value);
      } catch (error) {
        if (isLeft) return;
        if (!isAbort(error)) onBroken();
        controller.error(error);
        await reader.cancel().catch(() => undefined);
      }
    },
    async cancel(reason) {
      isLeft = true;
      await reader.cancel(reason);
    },
  });
  return Object.defineProperty(new Response(bounded, { status, statusText, headers }), 'url', { value: response.url });
}

function totalSize(): (chunk: Uint8Array) => number {
  let bytes = 0;
  return (chunk) => (bytes += chunk.length);
}

/** Bytes since the last empty line, at most: an event that ends in the middle of a chunk counts with it. */
function eventSize(): (chunk: Uint8Array) => number {
  let bytes = 0;
  let isLineEmpty = true;
  return (chunk) => {
    let largest = 0;
    for (const byte of chunk) {
      bytes++;
      if (byte === LF && isLineEmpty) {
        largest = Math.max(largest, bytes);
        bytes = 0;
      } else if (byte === LF) isLineEmpty = true;
      else if (byte !== CR) isLineEmpty = false;
    }
    return Math.max(largest, bytes);
  };
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}
