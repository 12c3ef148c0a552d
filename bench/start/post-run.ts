import { Agent, get, request, type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';

/** From the call that posts a run, as its user sees it. */
export interface PostedRun {
  readonly runId: string;
  readonly answeredMs: number;
  /** `turn.started` on the thread's stream. */
  readonly firstEventMs: number;
  /** The first text of the model step on the thread's stream. */
  readonly firstModelEventMs: number;
}

const agent = new Agent({ keepAlive: true });
const MODEL_EVENT = /"kind":"(?:message|reasoning)\.delta"/;
const GIVE_UP_MS = 60_000;

/** `POST /v1/runs`, then the thread's stream until the run is proven complete: what the user of a new run does. */
export async function postRun(gatewayUrl: string, model: string): Promise<PostedRun> {
  const postedAt = performance.now();
  const { run_id: runId, thread_id: threadId } = await post(`${gatewayUrl}/v1/runs`, { input: 'Hello, bench', model });
  const answeredMs = performance.now() - postedAt;
  let firstEventMs = NaN;
  let firstModelEventMs = NaN;
  let seen = '';
  const stream = await openStream(`${gatewayUrl}/v1/threads/${threadId}/events`);
  const timer = setTimeout(() => stream.destroy(new Error(`run ${runId} was not complete in time`)), GIVE_UP_MS);
  for await (const chunk of stream) {
    const atMs = performance.now() - postedAt;
    seen += String(chunk);
    if (Number.isNaN(firstEventMs) && seen.includes('"kind":"turn.started"')) firstEventMs = atMs;
    if (Number.isNaN(firstModelEventMs) && MODEL_EVENT.test(seen)) firstModelEventMs = atMs;
    if (seen.includes('event: canonical-complete\n')) break;
  }
  clearTimeout(timer);
  if (Number.isNaN(firstModelEventMs)) throw new Error(`run ${runId} said nothing`);
  return { runId, answeredMs, firstEventMs, firstModelEventMs };
}

async function post(url: string, body: unknown): Promise<{ run_id: string; thread_id: string }> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const headers = { 'content-type': 'application/json' };
    request(url, { method: 'POST', agent, headers }, resolve).on('error', reject).end(JSON.stringify(body));
  });
  const answer = await json(response);
  if (response.statusCode !== 201) throw new Error(`POST ${url} answered ${JSON.stringify(answer)}`);
  return answer as { run_id: string; thread_id: string };
}

async function openStream(url: string): Promise<IncomingMessage> {
  return await new Promise((resolve, reject) => {
    get(url, { headers: { accept: 'text/event-stream' }, agent: false }, resolve).on('error', reject);
  });
}
