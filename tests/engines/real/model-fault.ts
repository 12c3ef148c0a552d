import type { IncomingMessage, ServerResponse } from 'node:http';

/** How a model's server fails. */
export const FAULTS = ['error-500', 'error-529', 'malformed', 'reset', 'stall'] as const;
export type Fault = (typeof FAULTS)[number];

/** So many events of the right answer come before a stream breaks. */
const EVENTS_BEFORE = 6;

export function isFault(name: string | undefined): name is Fault {
  return FAULTS.some((fault) => fault === name);
}

/** Gives what is wrong with a right answer: an error instead of it, or its beginning and what no API says. */
export async function breakOff(fault: Fault, answer: IncomingMessage, res: ServerResponse): Promise<void> {
  const isStream = answer.headers['content-type']?.includes('event-stream') === true;
  const status = fault === 'error-529' ? 529 : 500;
  // what is asked for without a stream has no middle
  if (fault === 'error-500' || fault === 'error-529' || !isStream) {
    answer.resume();
    const type = status === 529 ? 'overloaded_error' : 'server_error';
    res.writeHead(status, { 'content-type': 'application/json' });
    res.end(JSON.stringify({ type: 'error', error: { type, message: `scripted error ${String(status)}` } }));
    return;
  }
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  let events = 0;
  let rest = '';
  answer.setEncoding('utf8');
  for await (const piece of answer) {
    const blocks = (rest + String(piece)).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      events += 1;
      if (events > EVENTS_BEFORE) return end(fault, block, res);
      res.write(`${block}\n\n`);
    }
  }
  res.end();
}

function end(fault: Fault, block: string, res: ServerResponse): void {
  if (fault === 'malformed') res.end(`${block.slice(0, block.length / 2)}\n\ndata: this is not JSON\n\n`);
  else if (fault === 'reset') res.socket?.destroy();
}
