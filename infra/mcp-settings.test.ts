import { describe, expect, it } from 'vitest';
import { besideFile, McpServerName, McpServerSettings } from './mcp-settings.ts';

const faults = (settings: unknown) =>
  McpServerSettings.safeParse(settings).error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);

describe('the settings of an MCP server', () => {
  it('are few for a command', () => {
    expect(McpServerSettings.parse({ command: ['npx', '-y', 'server'] })).toEqual({
      transport: 'stdio',
      command: ['npx', '-y', 'server'],
      env: {},
      passEnv: [],
      cwd: '.',
      memoryMb: 2_048,
      tools: { deny: [] },
      approval: 'always',
      trustAnnotations: false,
      timeoutSeconds: 120,
      startSeconds: 30,
    });
  });

  it('are few for an address', () => {
    const settings = McpServerSettings.parse({
      url: 'https://example.com/mcp',
      headers: { authorization: 'Bearer $KEY' },
    });
    expect(settings).toMatchObject({
      transport: 'http',
      headers: { authorization: 'Bearer $KEY' },
      approval: 'always',
    });
  });

  it.each([
    [{}, [/^command: is needed.*or url, and not both$/]],
    [{ command: ['a'], url: 'https://example.com' }, [/^command: .*not both$/]],
    [{ command: [] }, [/^command: /]],
    [{ command: ['a'], headers: {} }, [/^headers: go with url/]],
    [{ url: 'https://example.com', env: {}, cwd: '.' }, [/^env: goes with command$/, /^cwd: goes with command$/]],
    [{ url: 'ftp://example.com' }, [/^url: must be an http/]],
    [{ command: ['a'], approval: 'sometimes' }, [/^approval: /]],
    [{ command: ['a'], tools: { only: [] } }, [/^tools: .*only/]],
    [{ command: ['a'], timeoutSeconds: 0 }, [/^timeoutSeconds: /]],
    [{ command: ['a'], trust: true }, [/^: .*trust/]],
  ])('%j are refused with the field at fault', (settings, lines) => {
    expect(faults(settings)).toEqual(lines.map((line) => expect.stringMatching(line) as string));
  });

  it('find a command and a folder from the file that names them', () => {
    const beside = (settings: unknown) =>
      besideFile('/etc/tidemark/tidemark.config.ts', McpServerSettings.parse(settings));
    expect(beside({ command: ['./serve', './x'] })).toMatchObject({
      command: ['/etc/tidemark/serve', './x'],
      cwd: '/etc/tidemark',
    });
    expect(beside({ command: ['npx'], cwd: 'sub' })).toMatchObject({ command: ['npx'], cwd: '/etc/tidemark/sub' });
    expect(beside({ url: 'https://example.com/' })).toMatchObject({ url: 'https://example.com/' });
  });

  it.each(['docs', 'a', 'my-docs2'])('may stand under the name %s', (name) => {
    expect(McpServerName.safeParse(name).success).toBe(true);
  });

  it.each(['', 'Docs', 'my_docs', '1a', 'a__b', 'x'.repeat(25)])('may not stand under the name %j', (name) => {
    expect(McpServerName.safeParse(name).success).toBe(false);
  });
});
