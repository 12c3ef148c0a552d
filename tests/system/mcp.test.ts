import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LLMock } from '@copilotkit/aimock';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { fixture } from '../../activities/engines/builtin/mcp/mcp-testkit.ts';
import { markOf } from '../../activities/engines/builtin/mcp/stdio-transport.ts';
import { readProcesses } from '../../activities/engines/process/process-table.ts';
import type { ArtifactRef } from '../../contract/canonical.ts';
import { startStack, type Stack } from '../../infra/testing/stack.ts';
import type { TidemarkConfigInput } from '../../infra/tidemark-config.ts';
import { startHttpToolServer, type HttpToolServer } from '../fixtures/mcp/http-server.ts';
import { Rest, textOf, type Run, type SaidEvent } from '../fixtures/rest.ts';

/** The tool that the model calls when a prompt holds the word; then it says that it is done. */
const CALLS: Readonly<Record<string, readonly [tool: string, args: object]>> = {
  ECHO: ['mcp__careful__echo', { text: 'from the model' }],
  LATER: ['mcp__careful__echo', { text: 'after a restart' }],
  READ: ['mcp__web__echo', { text: 'over HTTP' }],
  DRAW: ['mcp__free__image', {}],
  CRASH: ['mcp__free__crash', {}],
  WRONG: ['mcp__free__echo', { words: 'none' }],
  DOWN: ['mcp__down__echo', { text: 'nobody hears' }],
};

const mock = new LLMock({ port: 0, logLevel: 'silent' });
let web: HttpToolServer;
let stack: Stack;
let rest: Rest;

beforeAll(async () => {
  for (const [word, [name, args]] of Object.entries(CALLS)) {
    mock.onToolResult(`call-${word}`, { content: `${word} is done.` });
    mock.onMessage(word, { toolCalls: [{ id: `call-${word}`, name, arguments: JSON.stringify(args) }] });
  }
  mock.onMessage('HELLO', { content: 'Hello.' });
  await mock.start();
  web = await startHttpToolServer();
  const servers: NonNullable<TidemarkConfigInput['mcpServers']> = {
    careful: { command: fixture('stdio'), startSeconds: 120 },
    free: { command: fixture('stdio'), approval: 'never', startSeconds: 120 },
    web: { url: web.url, approval: 'unless-read-only', tools: { allow: ['echo'] } },
    down: { command: ['sh', '-c', 'exit 3'] },
  };
  const file = join(await mkdtemp(join(inject('scratch'), 'mcp-')), 'tidemark.config.ts');
  await writeFile(file, `export default ${JSON.stringify({ mcpServers: servers })};\n`);
  stack = await startStack({
    env: {
      OPENAI_API_KEY: 'sk-canary-key',
      OPENAI_BASE_URL: `${mock.url}/v1`,
      OPENAI_MODEL: 'scripted',
      TIDEMARK_CONFIG: file,
    },
  });
  rest = new Rest(stack.url);
});
afterAll(async () => {
  await stack?.stop();
  await web?.stop();
  await mock.stop();
});

/** A run to its end, and what was said of it. */
async function ended(run: Run): Promise<SaidEvent[]> {
  expect((await rest.settled(run.run_id)).status).toBe('completed');
  const events = await rest.events(run);
  const { body } = await rest.send('GET', `/v1/runs/${run.run_id}/verify`);
  expect(body).toMatchObject({ holds: true });
  return events;
}

const ofKind = (events: readonly SaidEvent[], kind: string) => events.filter((event) => event.kind === kind);

describe('a run whose model calls a tool of an MCP server', () => {
  it('asks a person first, calls it, and goes on with what it gave', async () => {
    const run = await rest.startRun('ECHO');
    const [asked] = await rest.interruptOf(run.run_id);
    expect(asked).toMatchObject({ tool_name: 'mcp__careful__echo', prompt: 'careful: echo {"text":"from the model"}' });
    await rest.resolve(asked?.interrupt_id ?? '', { decision: 'approve' });
    const events = await ended(run);
    expect(ofKind(events, 'tool.completed')).toMatchObject([{ status: 'ok', preview: 'echo: from the model' }]);
    expect(textOf(events)).toBe('ECHO is done.');
  });

  it('over HTTP asks nobody where the settings believe that it only reads', async () => {
    const events = await ended(await rest.startRun('READ'));
    expect(ofKind(events, 'approval.requested')).toEqual([]);
    expect(ofKind(events, 'tool.completed')).toMatchObject([{ status: 'ok', preview: 'echo: over HTTP' }]);
    expect(web.served.calls).toEqual(['echo']);
  });

  it('keeps a picture as an artifact, and the model is told of it', async () => {
    const events = await ended(await rest.startRun('DRAW'));
    const [created] = ofKind(events, 'artifact.created');
    const { artifactId } = (created?.['artifact'] ?? {}) as Partial<ArtifactRef>;
    expect(created).toMatchObject({ name: 'image.png', artifact: { contentType: 'image/png' } });
    const [completed] = ofKind(events, 'tool.completed');
    expect(completed?.['preview']).toBe(`[image: image/png, 70 bytes, kept as artifact ${String(artifactId)}]`);
    const response = await fetch(`${stack.url}/v1/artifacts/${String(artifactId)}`);
    expect([response.status, (await response.arrayBuffer()).byteLength]).toEqual([200, 70]);
  });

  it('that ends its server has an error that says so, and goes on', async () => {
    const events = await ended(await rest.startRun('CRASH'));
    expect(ofKind(events, 'tool.completed')).toMatchObject([
      {
        status: 'error',
        error: expect.stringMatching(/it ended \(exit code 7\)\); whether the tool took effect is unknown/),
      },
    ]);
    expect(textOf(events)).toBe('CRASH is done.');
  });

  it('with wrong arguments is told which, and nothing is called', async () => {
    const events = await ended(await rest.startRun('WRONG'));
    expect(ofKind(events, 'tool.completed')).toMatchObject([
      { status: 'error', error: 'error: invalid arguments for mcp__free__echo: text is required' },
    ]);
  });

  it('and waits for a person goes on with a worker that came since', async () => {
    const run = await rest.startRun('LATER');
    const [asked] = await rest.interruptOf(run.run_id);
    await stack.workers[0]?.kill('SIGKILL');
    stack.workers.splice(0);
    await rest.resolve(asked?.interrupt_id ?? '', { decision: 'approve' });
    await stack.startWorker();
    expect(ofKind(await ended(run), 'tool.completed')).toMatchObject([{ preview: 'echo: after a restart' }]);
  });
});

describe('a server that is down', () => {
  it('is a warning, once, and its tools are absent', async () => {
    const events = await ended(await rest.startRun('HELLO'));
    expect(ofKind(events, 'harness.warning')).toMatchObject([
      {
        code: 'mcp_server_unavailable',
        message: 'the MCP server down is not available: it ended (exit code 3); the run goes on without its tools',
      },
    ]);
    const asked = mock.getLastRequest()?.body as { tools?: { function: { name: string } }[] } | undefined;
    const names = asked?.tools?.map((tool) => tool.function.name) ?? [];
    expect(names).toEqual(expect.arrayContaining(['read_file', 'mcp__careful__echo', 'mcp__web__echo']));
    expect(names.filter((name) => name.startsWith('mcp__down__'))).toEqual([]);
  });

  it('answers a call by what is known of it', async () => {
    const events = await ended(await rest.startRun('DOWN'));
    expect(ofKind(events, 'tool.completed')).toMatchObject([
      {
        status: 'error',
        error:
          'error: the tool mcp__down__echo was not run: the MCP server down is not available: it ended (exit code 3)',
      },
    ]);
  });
});

it('no process of a server outlives its worker', async () => {
  const marks = stack.workers.map(({ pid }) => markOf(pid, 'careful'));
  const ours = async () =>
    (await readProcesses()).filter((entry) => marks.some((mark) => entry.mark?.startsWith(mark)));
  expect(await ours()).not.toEqual([]);
  await Promise.all(stack.workers.map(async (worker) => await worker.end()));
  expect(await ours()).toEqual([]);
});
