import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { HttpAgent, type Message } from '@ag-ui/client';
import { AgentCapabilitiesSchema } from '@ag-ui/core/schemas';
import { HttpAgent as OldHttpAgent } from 'ag-ui-client-0.0.59';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Problem, type Run } from '../fixtures/rest.ts';
import { useWorld } from '../fixtures/world.ts';

const world = useWorld();
let complaints: unknown[] = [];

// the client warns and goes on where it must strip or invent something: here that is a fault
beforeEach(() => {
  complaints = [];
  for (const level of ['warn', 'error'] as const) {
    vi.spyOn(console, level).mockImplementation((...said) => void complaints.push(said));
  }
});
afterEach(() => {
  vi.restoreAllMocks();
  if (complaints.length > 0) throw new Error(`the client complained: ${JSON.stringify(complaints).slice(0, 2_000)}`);
});

function newAgent(messages: Message[] = []): HttpAgent {
  return new HttpAgent({
    url: `${world.stack.url}/v1/ag-ui/builtin`,
    threadId: crypto.randomUUID(),
    initialMessages: messages,
  });
}

function say(agent: HttpAgent, content: string): void {
  agent.addMessage({ id: crypto.randomUUID(), role: 'user', content });
}

/** What the transcript says, without ids that no one chose. */
function told(messages: readonly Message[]): unknown[] {
  return messages.map((message) => {
    const calls = message.role === 'assistant' ? message.toolCalls?.map((call) => call.function) : undefined;
    return [message.role, 'content' in message ? message.content : undefined, ...(calls === undefined ? [] : [calls])];
  });
}

interface Ended {
  readonly outcome: string;
  readonly interrupts: readonly { readonly id: string; readonly toolCallId?: string }[];
}

async function run(agent: HttpAgent, parameters: Parameters<HttpAgent['runAgent']>[0] = {}): Promise<Ended> {
  const ended: { value: Ended } = { value: { outcome: 'none', interrupts: [] } };
  await agent.runAgent(parameters, {
    onRunFinishedEvent: ({ event }) => {
      const outcome = event.outcome as { type?: string; interrupts?: Ended['interrupts'] } | undefined;
      ended.value = { outcome: outcome?.type ?? 'success', interrupts: outcome?.interrupts ?? [] };
    },
    onRunErrorEvent: ({ event }) => {
      ended.value = { outcome: `error ${event.code ?? ''}`, interrupts: [] };
    },
  });
  return ended.value;
}

async function runsOf(agent: HttpAgent): Promise<Run[]> {
  const { rows } = await world.stack.pool.query<{ thread_id: string }>(
    'select thread_id from thread where client_thread_id = $1',
    [agent.threadId],
  );
  const { body } = await world.rest.send<{ data: Run[] }>('GET', `/v1/threads/${rows[0]?.thread_id ?? ''}/runs`);
  return body.data;
}

describe('the real AG-UI 1.0 client', () => {
  it('starts a run, streams its answer, and goes on in the same thread without saying its transcript twice', async () => {
    const agent = newAgent();
    say(agent, 'ANSWER the first');
    expect((await run(agent)).outcome).toBe('success');
    say(agent, 'ANSWER the second');
    expect((await run(agent)).outcome).toBe('success');
    expect(told(agent.messages)).toEqual([
      ['user', 'ANSWER the first'],
      ['assistant', 'The answer is 42. ñ 你好 🌍'],
      ['user', 'ANSWER the second'],
      ['assistant', 'The answer is 42. ñ 你好 🌍'],
    ]);
    expect(await runsOf(agent)).toHaveLength(2);
    expect(world.model.calls('ANSWER the second')).toBe(1);
  });

  it('shows parallel tool calls with their results', async () => {
    const agent = newAgent();
    say(agent, 'PARALLEL for a client');
    expect((await run(agent)).outcome).toBe('success');
    expect(agent.messages.filter(({ role }) => role === 'tool')).toHaveLength(2);
    expect(agent.messages.at(-1)).toMatchObject({ role: 'assistant', content: 'Both looks are over.' });
  });

  it('is interrupted by an approval and resumes with the person’s arguments', async () => {
    const agent = newAgent();
    say(agent, 'WRITE for a client');
    const { outcome, interrupts } = await run(agent);
    expect(outcome).toBe('interrupt');
    const [interrupt] = interrupts;
    const editedArgs = { path: 'client.txt', content: 'edited in the client' };
    const resume = [
      { interruptId: interrupt?.id ?? '', status: 'resolved' as const, payload: { approved: true, editedArgs } },
    ];
    expect((await run(agent, { resume })).outcome).toBe('success');
    const [first] = await runsOf(agent);
    expect(await readFile(join(world.stack.home, 'workspaces', first?.thread_id ?? '', 'client.txt'), 'utf8')).toBe(
      'edited in the client',
    );
    expect(agent.messages.at(-1)).toMatchObject({ role: 'assistant', content: 'The write turn is over.' });
  });

  it('must answer several open interrupts together: approve, deny and cancel in one', async () => {
    const agent = newAgent();
    say(agent, 'THREE for a client');
    const { interrupts } = await run(agent);
    expect(interrupts).toHaveLength(3);
    const [one, two, three] = interrupts.map(({ id }) => id);
    const some = {
      threadId: agent.threadId,
      runId: 'r2',
      messages: [],
      resume: [{ interruptId: one, status: 'resolved', payload: { approved: true } }],
    };
    const refused = await world.rest.send<Problem>('POST', '/v1/ag-ui/builtin', some);
    expect(refused).toMatchObject({ status: 409, body: { code: 'interrupts_not_covered' } });
    const resume = [
      { interruptId: one ?? '', status: 'resolved' as const, payload: { approved: true } },
      { interruptId: two ?? '', status: 'resolved' as const, payload: { approved: false, message: 'no' } },
      { interruptId: three ?? '', status: 'cancelled' as const },
    ];
    expect((await run(agent, { resume })).outcome).toBe('success');
    const [thread] = await runsOf(agent);
    const events = await world.rest.events(thread as Run);
    expect(events.filter(({ kind }) => kind === 'file.changed')).toHaveLength(1);
  });

  it('answers a question by its form', async () => {
    const agent = newAgent();
    say(agent, 'ASK the client');
    const { interrupts } = await run(agent);
    const resume = [{ interruptId: interrupts[0]?.id ?? '', status: 'resolved' as const, payload: { answer: 'blue' } }];
    expect((await run(agent, { resume })).outcome).toBe('success');
    expect(agent.messages.find(({ role }) => role === 'tool')).toMatchObject({ content: 'blue' });
  });

  it('sees a failed run as an error and a cancelled one as cancelled, and the thread goes on after both', async () => {
    const agent = newAgent();
    say(agent, 'ERR401 for a client');
    expect((await run(agent)).outcome).toBe('error provider_auth');
    say(agent, 'SLOW for a client');
    const runId = crypto.randomUUID();
    const slow = run(agent, { runId });
    await world.rest.until('it runs', async () => (world.model.calls('SLOW for a client') > 0 ? true : null));
    const cancel = await world.rest.send('POST', '/v1/ag-ui/builtin/cancel', { threadId: agent.threadId, runId });
    expect(cancel.status).toBe(202);
    expect((await slow).outcome).toBe('cancelled');
    say(agent, 'ANSWER after both');
    expect((await run(agent)).outcome).toBe('success');
    const fresh = await reader(agent, (await runsOf(agent))[0] as Run, 0);
    expect(fresh.filter(({ role }) => role === 'user')).toHaveLength(3);
  });

  it('is told what the engine can do, in AG-UI’s own words', async () => {
    const { status, body } = await world.rest.send<unknown>('GET', '/v1/ag-ui/builtin');
    expect(status).toBe(200);
    expect(AgentCapabilitiesSchema.parse(body)).toEqual(body);
    expect(body).toMatchObject({ humanInTheLoop: { interrupts: true }, tools: { clientProvided: false } });
    expect(await world.rest.send('GET', '/v1/ag-ui/warp')).toMatchObject({
      status: 422,
      body: { code: 'unknown_engine' },
    });
  });

  it('that has nothing new to say, or no run to answer, gets a problem and starts nothing', async () => {
    const agent = newAgent();
    say(agent, 'ANSWER then nothing');
    await run(agent);
    const again = { threadId: agent.threadId, runId: 'other', messages: agent.messages };
    expect(await world.rest.send('POST', '/v1/ag-ui/builtin', again)).toMatchObject({
      status: 422,
      body: { code: 'nothing_to_run' },
    });
    const resume = [{ interruptId: 'int_none', status: 'resolved', payload: { approved: true } }];
    const answer = await world.rest.send('POST', '/v1/ag-ui/builtin', { ...again, resume });
    expect(answer).toMatchObject({ status: 409, body: { code: 'interrupts_not_covered' } });
    expect(await world.rest.send('POST', '/v1/ag-ui/builtin', { threadId: 't' })).toMatchObject({ status: 400 });
    expect(await runsOf(agent)).toHaveLength(1);
  });

  it('posts the same run again and gets the same run', async () => {
    const agent = newAgent();
    say(agent, 'ANSWER exactly once');
    const runId = crypto.randomUUID();
    await run(agent, { runId });
    const again = newAgent([...agent.messages].slice(0, 1));
    again.threadId = agent.threadId;
    await run(again, { runId });
    expect(told(again.messages)).toEqual(told(agent.messages));
    expect(world.model.calls('ANSWER exactly once')).toBe(1);
  });
});

/** A client that reads a run's stream from a cursor, holding nothing or what it held. */
async function reader(
  agent: HttpAgent,
  { run_id: runId }: Run,
  after: number,
  leg?: number,
  held: Message[] = [],
): Promise<Message[]> {
  const path = `/v1/runs/${runId}/events?encoding=ag-ui&after=${String(after)}${leg === undefined ? '' : `&leg=${String(leg)}`}`;
  const client = new HttpAgent({
    url: `${world.stack.url}${path}`,
    threadId: agent.threadId,
    initialMessages: structuredClone(held),
  });
  client.fetch = async () => await fetch(`${world.stack.url}${path}`, { headers: { accept: 'text/event-stream' } });
  await run(client);
  return client.messages;
}

describe('a client that comes back', () => {
  it('at any cursor of a run, to any leg, ends with the messages of one that was never away', async () => {
    const agent = newAgent();
    say(agent, 'ANSWER before');
    await run(agent);
    say(agent, 'WRITE and come back');
    const { interrupts } = await run(agent);
    const atPause = told(agent.messages);
    const resume = [{ interruptId: interrupts[0]?.id ?? '', status: 'resolved' as const, payload: { approved: true } }];
    await run(agent, { resume });
    const atEnd = told(agent.messages);
    const [latest] = await runsOf(agent);
    const settled = await world.rest.settled(latest?.run_id ?? '');
    const deliveries = await world.rest.deliveries(settled.thread_id);
    const head = deliveries.length;
    for (const { delivery_seq: after } of [{ delivery_seq: 0 }, ...deliveries]) {
      if (after > 0 && deliveries[after - 1]?.event?.runId !== settled.run_id) continue;
      expect({ after, leg: 1, told: told(await reader(agent, settled, after, 1)) }).toEqual({
        after,
        leg: 1,
        told: atPause,
      });
      expect({ after, leg: 2, told: told(await reader(agent, settled, after, 2)) }).toEqual({
        after,
        leg: 2,
        told: atEnd,
      });
    }
    expect(told(await reader(agent, settled, head))).toEqual(atEnd);
    // and one that kept what it held
    expect(told(await reader(agent, settled, 0, 2, agent.messages))).toEqual(atEnd);
  }, 120_000);

  it('in the middle of a live message gets the partial message and the rest, once', async () => {
    const run1 = await world.rest.startRun('SLOW and live');
    await world.rest.until('it speaks', async () =>
      (await world.rest.deliveries(run1.thread_id)).length > 12 ? true : null,
    );
    const following = reader(newAgent(), run1, 8);
    await world.rest.until('it speaks on', async () =>
      (await world.rest.deliveries(run1.thread_id)).length > 30 ? true : null,
    );
    await world.rest.send('POST', `/v1/runs/${run1.run_id}/cancel`);
    const messages = await following;
    const whole = await reader(newAgent(), run1, 0);
    expect(told(messages)).toEqual(told(whole));
    expect(JSON.stringify(messages).match(/word0 /g)).toHaveLength(1);
  });
});

class OldReader extends OldHttpAgent {
  protected override requestInit(): RequestInit {
    return { method: 'GET', headers: { accept: 'text/event-stream' } };
  }
}

describe('the AG-UI client before 1.0 (0.0.59)', () => {
  it('runs, sees tools and an interrupt, and loads a thread with a failed run; a cancelled run is what it cannot read', async () => {
    const agent = new OldHttpAgent({ url: `${world.stack.url}/v1/ag-ui/builtin`, threadId: crypto.randomUUID() });
    const ask = async (content: string): Promise<void> => {
      agent.addMessage({ id: crypto.randomUUID(), role: 'user', content });
      await agent.runAgent();
    };
    await ask('PARALLEL for an old client');
    expect(agent.messages.at(-1)).toMatchObject({ role: 'assistant', content: 'Both looks are over.' });
    await ask('ERR401 for an old client').catch(() => undefined);
    await ask('ANSWER for an old client');
    expect(agent.messages.at(-1)).toMatchObject({ content: 'The answer is 42. ñ 你好 🌍' });
    await ask('WRITE for an old client');
    expect(agent.messages.at(-1)).toMatchObject({ role: 'assistant' });

    const cancelled = await world.rest.startRun('SLOW for an old client');
    await world.rest.send('POST', `/v1/runs/${cancelled.run_id}/cancel`);
    await world.rest.settled(cancelled.run_id);
    const path = `/v1/runs/${cancelled.run_id}/events?encoding=ag-ui`;
    const old = new OldReader({ url: `${world.stack.url}${path}` });
    await expect(old.runAgent()).rejects.toThrow(/outcome/);
    // it says on the console what it could not read
    complaints = [];
  });
});
