import { afterEach, describe, expect, it, vi } from 'vitest';
import { startHttpToolServer, type HttpToolServer } from '../../../../tests/fixtures/mcp/http-server.ts';
import { readProcesses } from '../../process/process-table.ts';
import { markOf } from './stdio-transport.ts';
import { becomesAvailable, call, eventually, fixture, mcpTools, namesOf, settledTools } from './mcp-testkit.ts';

let http: HttpToolServer[] = [];
afterEach(async () => {
  vi.unstubAllEnvs();
  await Promise.all(http.splice(0).map(async (server) => await server.stop()));
});

async function httpServer(options: Parameters<typeof startHttpToolServer>[0] = {}): Promise<HttpToolServer> {
  const server = await startHttpToolServer(options);
  http.push(server);
  return server;
}

const TOOLS = [
  ...['echo', 'slow', 'error', 'refuse', 'image', 'huge', 'structured', 'environment', 'grow', 'crash', 'sample'],
  ...[expect.stringMatching(/^mcp__x__odd_name__[0-9a-f]{8}$/), 'broken_schema'],
].map((name: unknown) => (typeof name === 'string' ? `mcp__x__${name}` : name));

describe.each(['stdio', 'streamable HTTP', 'streamable HTTP without streams'])('a server over %s', (transport) => {
  async function world(settings: object = {}) {
    if (transport === 'stdio') return await settledTools({ x: { command: fixture('stdio'), ...settings } });
    const server = await httpServer({ json: transport.endsWith('streams') });
    return await settledTools({ x: { url: server.url, ...settings } });
  }

  it('offers its tools, those of all pages, under names that a model can call', async () => {
    const tools = await world();
    expect(namesOf(tools)).toEqual(TOOLS);
    expect(tools.outages()).toEqual([]);
    const echo = tools.get('mcp__x__echo');
    expect(echo).toMatchObject({ label: 'x: Echo', description: 'Says what it is told.', approval: 'always' });
    expect(echo).toMatchObject({ repeatable: false, parallelSafe: false });
    expect(echo?.describe({ text: 'a\nb' })).toBe('x: echo {"text":"a\\nb"}');
    expect(tools.absence('mcp__x__none')).toBe('the MCP server x does not offer it now');
    expect(tools.absence('read_file')).toBeNull();
  });

  it('does what a call says, and what goes wrong is a result', async () => {
    const tools = await world();
    expect(await call(tools, 'mcp__x__echo', { args: { text: 'hello 你好' } })).toMatchObject({
      text: 'echo: hello 你好',
      isError: false,
    });
    expect(await call(tools, 'mcp__x__error')).toMatchObject({ text: 'it went wrong', isError: true });
    expect(await call(tools, 'mcp__x__refuse')).toMatchObject({
      text: 'error: tool mcp__x__refuse failed: these arguments will not do',
      isError: true,
    });
    expect((await call(tools, 'mcp__x__structured')).text).toBe('{"answer":42}');
    expect((await call(tools, 'mcp__x__huge')).text).toMatch(/\[900000 more characters are not shown/);
    const image = await call(tools, 'mcp__x__image');
    expect(image.saved).toMatchObject({ contentType: 'image/png', name: 'image.png' });
    expect(image.text).toMatch(/^\[image: image\/png, 70 bytes, kept as artifact art_/);
  });

  it('is given no arguments that its schema refuses, and none by a schema that cannot be used', async () => {
    const tools = await world();
    expect(tools.get('mcp__x__echo')?.validate({ texts: 'a' })).toEqual({
      ok: false,
      kind: 'invalid-arguments',
      error: 'error: invalid arguments for mcp__x__echo: text is required',
    });
    expect(tools.get('mcp__x__broken_schema')).toMatchObject({ parameters: { type: 'object', properties: {} } });
    expect(tools.get('mcp__x__broken_schema')?.validate({})).toMatchObject({ ok: false, kind: 'invalid-tool-schema' });
    expect(await call(tools, 'mcp__x__broken_schema')).toMatchObject({
      isError: true,
      details: { kind: 'invalid-tool-schema' },
      text: expect.stringMatching(/schema that cannot be used$/) as string,
    });
  });

  it('shows how far a call is, and hears when the call is given up', async () => {
    const tools = await world();
    const said: string[] = [];
    const stop = new AbortController();
    const called = call(tools, 'mcp__x__slow', { signal: stop.signal, said });
    if (transport.endsWith('streams')) stop.abort(new Error('stopped'));
    else {
      await eventually(() => expect(said.length).toBeGreaterThan(1));
      expect(said[0]).toBe('1/600 working\n');
      stop.abort(new Error('stopped'));
    }
    await expect(called).rejects.toThrow('stopped');
    if (http[0] !== undefined && said.length > 0) await eventually(() => expect(http[0]?.served.cancelled).toBe(1));
    expect((await call(tools, 'mcp__x__echo', { args: { text: 'still there' } })).isError).toBe(false);
  });

  it('that takes too long is not waited for, and stays', async () => {
    const tools = await world({ timeoutSeconds: 1 });
    expect(await call(tools, 'mcp__x__slow')).toMatchObject({
      text: 'error: the MCP server x did not answer within 1 s; whether the tool took effect is unknown',
      isError: true,
    });
    expect((await call(tools, 'mcp__x__echo', { args: { text: 'still there' } })).isError).toBe(false);
  });

  it('can ask nothing of its client', async () => {
    const tools = await world();
    expect((await call(tools, 'mcp__x__sample')).text).toMatch(/^refused: .*(Method not found|not support)/);
  });

  it('tells when it offers more', async () => {
    // by a stream that it opens, where it can
    if (transport.endsWith('streams')) return;
    const tools = await world();
    expect(namesOf(tools)).not.toContain('mcp__x__grown');
    await call(tools, 'mcp__x__grow');
    await becomesAvailable(tools, 'mcp__x__grown');
  });
});

describe('the settings', () => {
  const command = fixture('stdio');

  it('say which tools are offered and how far the server is believed', async () => {
    const tools = await settledTools({
      plain: { command, tools: { allow: ['echo', 'slow'], deny: ['slow'] } },
      read: { command, tools: { allow: ['echo', 'slow'] }, approval: 'unless-read-only' },
      trusted: { command, tools: { allow: ['echo', 'slow'] }, approval: 'never', trustAnnotations: true },
    });
    const facts = Array.from(tools.values(), (tool) => [tool.name, tool.approval, tool.repeatable, tool.parallelSafe]);
    expect(facts).toEqual([
      ['mcp__plain__echo', 'always', false, false],
      ['mcp__read__echo', 'never', false, false],
      ['mcp__read__slow', 'always', false, false],
      ['mcp__trusted__echo', 'never', true, true],
      ['mcp__trusted__slow', 'never', false, false],
    ]);
  });

  it('give a process no variable that they do not name', async () => {
    vi.stubEnv('DATABASE_URL', 'postgres://secret');
    vi.stubEnv('OTHER_KEY', 'secret');
    vi.stubEnv('DOCS_KEY', 'secret');
    const tools = await settledTools({ x: { command, passEnv: ['DOCS_KEY'], env: { MODE: 'test' } } });
    const names = (await call(tools, 'mcp__x__environment')).text.split(' ');
    expect(names).toEqual(expect.arrayContaining(['DOCS_KEY', 'MODE', 'PATH']));
    expect(names).not.toContain('DATABASE_URL');
    expect(names).not.toContain('OTHER_KEY');
  });

  it('fill the headers of an address from the environment', async () => {
    vi.stubEnv('DOCS_KEY', 's3cret');
    const server = await httpServer();
    const tools = await settledTools({ x: { url: server.url, headers: { authorization: 'Bearer $DOCS_KEY' } } });
    await call(tools, 'mcp__x__echo', { args: { text: 'a' } });
    expect(new Set(server.headers.map(({ authorization }) => authorization))).toEqual(new Set(['Bearer s3cret']));
    const without = await settledTools({ y: { url: server.url, headers: { authorization: 'Bearer $NO_SUCH_KEY' } } });
    expect(without.outages()).toEqual([{ server: 'y', reason: 'a header of it needs $NO_SUCH_KEY, which is not set' }]);
  });

  it('of several servers make one list, cut at the same place everywhere', async () => {
    const many = fixture('hostile', 'many');
    const tools = await settledTools({ second: { command }, first: { command: many } });
    expect(namesOf(tools)).toHaveLength(100);
    expect(namesOf(tools).filter((name) => name.startsWith('mcp__second__'))).toHaveLength(TOOLS.length);
  });
});

it('leaves no process behind when it is closed, also in the middle of a call', async () => {
  const tools = await settledTools({ x: { command: fixture('stdio') } });
  const ours = async () =>
    (await readProcesses()).filter(({ mark }) => mark?.startsWith(`${markOf(process.pid, 'x')}/`) ?? false);
  expect(await ours()).not.toEqual([]);
  const called = call(tools, 'mcp__x__slow');
  const [outcome] = await Promise.all([called, tools.close()]);
  expect(outcome).toMatchObject({ isError: true });
  expect(await ours()).toEqual([]);
});

it('closes at once while a server is being started', async () => {
  const tools = await mcpTools({ x: { command: fixture('hostile', 'mute'), startSeconds: 300 } });
  await tools.close();
  await tools.settled(60_000);
  expect(namesOf(tools)).toEqual([]);
});
