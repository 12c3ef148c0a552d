import { afterEach, describe, expect, it } from 'vitest';
import { startHttpToolServer, type HttpToolServer } from '../../../../tests/fixtures/mcp/http-server.ts';
import { becomesAvailable, call, eventually, fixture, namesOf, settledTools } from './mcp-testkit.ts';

let http: HttpToolServer[] = [];
afterEach(async () => {
  await Promise.all(http.splice(0).map(async (server) => await server.stop()));
});

async function httpServer(options: Parameters<typeof startHttpToolServer>[0] = {}): Promise<HttpToolServer> {
  const server = await startHttpToolServer(options);
  http.push(server);
  return server;
}

const echo = { args: { text: 'hello' } };

describe('a server that is down', () => {
  it.each([
    ['a command that is not there', { command: ['no-such-program'] }, 'its command cannot be started'],
    ['one that ends', { command: ['sh', '-c', 'exit 3'] }, 'it ended (exit code 3)'],
    [
      'one that never answers',
      { command: fixture('hostile', 'mute'), startSeconds: 2 },
      'it did not answer within 2 s',
    ],
    [
      'one that says garbage',
      { command: fixture('hostile', 'garbage'), startSeconds: 2 },
      'it did not answer within 2 s',
    ],
    ['one whose line never ends', { command: fixture('hostile', 'endless-line') }, 'it sent a message over the limit'],
    ['one without a list', { command: fixture('hostile', 'no-list') }, 'it does not speak MCP as it should'],
    ['an address that is not there', { url: 'http://tidemark.invalid/mcp' }, 'it cannot be reached (ENOTFOUND)'],
  ])('(%s) offers nothing, and says why', async (_, settings, reason) => {
    const tools = await settledTools({ x: settings });
    expect(namesOf(tools)).toEqual([]);
    expect(tools.outages()).toEqual([{ server: 'x', reason }]);
    expect(tools.absence('mcp__x__echo')).toBe(`the MCP server x is not available: ${reason}`);
  });

  it.each([
    [500, 'it answered 500'],
    [401, 'it answered 401'],
    [307, 'it answered 307'],
  ])('(it answers %i) says so, and nothing of what it said', async (status, reason) => {
    const server = await httpServer();
    server.fault = (_, response) =>
      void response.writeHead(status, { location: 'http://127.0.0.1:9/away' }).end('sk-secret');
    const tools = await settledTools({ x: { url: server.url } });
    expect(tools.outages()).toEqual([{ server: 'x', reason }]);
  });

  it('does not hold up the others, nor anyone who asks again', async () => {
    const tools = await settledTools({
      mute: { command: fixture('hostile', 'mute'), startSeconds: 1 },
      good: { command: fixture('stdio') },
    });
    expect(tools.outages()).toMatchObject([{ server: 'mute' }]);
    expect(namesOf(tools)).toContain('mcp__good__echo');
    await tools.settled(0);
    expect(tools.outages()).toMatchObject([{ server: 'mute' }]);
  });

  it('is there again once it is up', async () => {
    const first = await startHttpToolServer();
    const port = Number(new URL(first.url).port);
    await first.stop();
    const tools = await settledTools({ x: { url: first.url } });
    expect(tools.outages()).toEqual([{ server: 'x', reason: 'it cannot be reached (ECONNREFUSED)' }]);
    await httpServer({ port });
    await becomesAvailable(tools, 'mcp__x__echo');
    expect(tools.outages()).toEqual([]);
    expect((await call(tools, 'mcp__x__echo', echo)).text).toBe('echo: hello');
  });
});

describe('a connection that is lost', () => {
  it('in a call makes an error of it, keeps its tools and is renewed', async () => {
    const tools = await settledTools({ x: { command: fixture('stdio') } });
    expect(await call(tools, 'mcp__x__crash')).toMatchObject({
      text: 'error: the MCP server x is not available (it ended (exit code 7)); whether the tool took effect is unknown',
      isError: true,
    });
    expect(namesOf(tools)).toContain('mcp__x__echo');
    expect((await call(tools, 'mcp__x__echo', echo)).text).toBe('echo: hello');
  });

  it('again and again makes an outage of it', async () => {
    const tools = await settledTools({ x: { command: fixture('stdio') } });
    await call(tools, 'mcp__x__crash');
    const crash = tools.get('mcp__x__crash');
    await call(tools, 'mcp__x__crash');
    await eventually(() => expect(tools.outages()).toEqual([{ server: 'x', reason: 'it ended (exit code 7)' }]));
    expect(crash).toBeDefined();
    await becomesAvailable(tools, 'mcp__x__echo');
  });

  it('since the server knows its session no more is renewed, and the call that it refused is made', async () => {
    const server = await httpServer();
    const tools = await settledTools({ x: { url: server.url } });
    server.forget();
    expect((await call(tools, 'mcp__x__echo', echo)).text).toBe('echo: hello');
    expect(server.served.calls).toEqual(['echo']);
  });

  it('since the server is gone makes the call an error, and an outage', async () => {
    const server = await httpServer();
    const tools = await settledTools({ x: { url: server.url } });
    await server.stop();
    const outcome = await call(tools, 'mcp__x__echo', echo);
    expect(outcome).toMatchObject({ isError: true });
    expect(outcome.text).toMatch(/^error: the MCP server x is not available \(it cannot be reached /);
    await eventually(() => expect(namesOf(tools)).toEqual([]));
  });

  it('in the middle of an answer is not waited for', async () => {
    const server = await httpServer();
    const tools = await settledTools({ x: { url: server.url } });
    server.fault = (request, response) => {
      if (request.method !== 'POST') return void response.writeHead(405).end();
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(': begins\n\n', () => response.destroy());
    };
    const outcome = await call(tools, 'mcp__x__echo', echo);
    expect(outcome.text).toMatch(/\(an answer of it broke off\); whether the tool took effect is unknown$/);
  });

  it('by an answer over the limit is one, too', async () => {
    const server = await httpServer();
    const tools = await settledTools({ x: { url: server.url } });
    server.fault = (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const write = (error?: Error | null): void => {
        if (error === undefined || error === null) response.write('x'.repeat(1_000_000), write);
      };
      write();
    };
    expect((await call(tools, 'mcp__x__echo', echo)).text).toMatch(/an answer of it broke off/);
  });

  it('is said goodbye to when it is closed', async () => {
    const server = await httpServer();
    const tools = await settledTools({ x: { url: server.url } });
    await tools.close();
    expect(server.goodbyes).toBe(1);
  });
});

describe('a hostile server', () => {
  it.each([
    ['many', 100],
    ['endless', 1],
    ['huge-schema', 1],
    ['malformed', 1],
  ])('(%s) offers what is sound, within limits', async (how, count) => {
    const tools = await settledTools({ x: { command: fixture('hostile', how) } });
    expect(tools.outages()).toEqual([]);
    const offered = Array.from(tools.values());
    expect(offered).toHaveLength(count);
    for (const { description } of offered) expect(description.length).toBeLessThanOrEqual(2_048);
  });
});
