import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConfigError, loadConfig } from './config.ts';
import { settingsOfModel } from './model-settings.ts';
import { loadTidemarkConfig } from './tidemark-config.ts';

let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tidemark-config-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('loadTidemarkConfig', () => {
  it('has the presets without a file', async () => {
    const { engines } = await loadTidemarkConfig({ configFile: undefined });
    expect([...engines.keys()]).toEqual(['opencode', 'claude', 'codex', 'gemini', 'pi']);
    expect(engines.get('codex')).toMatchObject({ kind: 'codex', memoryMb: 4_096, approvalPolicy: 'untrusted' });
  });

  it('adds, overrides and removes by the file, and finds paths from it', async () => {
    const engines = await load(`{ engines: {
      gemini: false,
      codex: { kind: 'codex', model: 'gpt-5' },
      mine: { kind: 'acp', command: ['./bin/agent', '--acp'] },
      notes: { kind: 'lifecycle', module: './notes.ts' },
    } } satisfies object`);
    expect([...engines.keys()]).toEqual(['opencode', 'claude', 'codex', 'pi', 'mine', 'notes']);
    expect(engines.get('codex')).toMatchObject({ model: 'gpt-5' });
    expect(engines.get('mine')).toMatchObject({ command: [join(folder, 'bin/agent'), '--acp'] });
    expect(engines.get('notes')).toMatchObject({ module: join(folder, 'notes.ts') });
  });

  it('finds the module of an agent from the file', async () => {
    const engines = await load(`{ engines: { own: { kind: 'ai-sdk', module: './own.ts' } } }`);
    expect(engines.get('own')).toMatchObject({ module: join(folder, 'own.ts') });
  });

  it('finds the commands of MCP servers from the file', async () => {
    const configFile = fileWith(
      `{ mcpServers: { docs: { command: ['./serve'] }, web: { url: 'https://a.example/mcp' } } }`,
    );
    const { mcpServers } = await loadTidemarkConfig({ configFile });
    expect([...mcpServers.keys()]).toEqual(['docs', 'web']);
    expect(mcpServers.get('docs')).toMatchObject({ command: [join(folder, 'serve')], cwd: folder });
  });

  it.each([
    [`{ engines: { mine: { kind: 'acp' } } }`, 'engines.mine.command: is needed'],
    [`{ engines: { mine: { kind: 'lifecycle' } } }`, 'engines.mine.module: is needed'],
    [`{ engines: { mine: { kind: 'ai-sdk' } } }`, 'engines.mine.module: '],
    [`{ engines: { mine: { kind: 'langgraph', module: 'm.ts', events: 'v4' } } }`, 'engines.mine.events: '],
    [`{ engines: { codex: { kind: 'codex', memory: 1 } } }`, 'engines.codex: Unrecognized key: "memory"'],
    [`{ engines: { codex: { kind: 'codex', memoryMb: -1 } } }`, 'engines.codex.memoryMb: '],
    [
      `{ engines: { ci: { kind: 'codex-exec', sandbox: 'read-only', approveForMe: true } } }`,
      'engines.ci.approveForMe: goes with the sandbox "workspace-write" alone',
    ],
    [`{ engines: { mine: { kind: 'mcp' } } }`, 'engines.mine.kind: '],
    [`{ engines: { builtin: { kind: 'codex' } } }`, 'engines.builtin: is the name of the engine that Tidemark brings'],
    [`{ engines: { 'My Engine': false } }`, 'engines.My Engine: must begin with a letter'],
    [`{ mcpServers: { docs: {} } }`, 'mcpServers.docs.command: is needed'],
    [`{ mcpServers: { docs: { url: 'https://a.example', key: 1 } } }`, 'mcpServers.docs: Unrecognized key: "key"'],
    [`{ mcpServers: { My_docs: { url: 'https://a.example' } } }`, 'mcpServers.My_docs: must begin with a letter'],
    [`{ sessions: { backend: 'redis', folder: 'x' } }`, 'sessions.backend: must be "jsonl"'],
    [`{ sessions: { backend: 'jsonl' } }`, 'sessions.folder: '],
    [`{ engine: {} }`, 'the default export: Unrecognized key: "engine"'],
    [`undefined`, 'has no default export'],
  ])('says which field of %s is wrong', async (exported, line) => {
    await expect(load(exported)).rejects.toThrow(ConfigError);
    await expect(load(exported)).rejects.toThrow(line);
  });

  it('says a line for each wrong engine', async () => {
    const failure: unknown = await load(`{ engines: { a: { kind: 'acp' }, b: { kind: 'acp' } } }`).catch(
      (error: unknown) => error,
    );
    expect((failure as Error).message.split('\n')).toHaveLength(2);
  });

  it('says why a file cannot be loaded', async () => {
    await expect(load('oh no')).rejects.toThrow('cannot be loaded');
  });
});

describe('the models of the file', () => {
  it('are none without one, and what it says', async () => {
    expect((await loadTidemarkConfig({ configFile: undefined })).models).toEqual(new Map());
    const exported = `{ models: { 'openai/m': { contextTokens: 9_000 }, '*': { maxOutputTokens: 500 } } }`;
    const { models } = await loadTidemarkConfig({ configFile: fileWith(exported) });
    expect(settingsOfModel(models, 'openai/m')).toEqual({ contextTokens: 9_000, maxOutputTokens: 500 });
    expect(settingsOfModel(models, 'openai/other')).toEqual({ maxOutputTokens: 500 });
  });

  it.each([
    [`{ models: { gpt: {} } }`, 'models.gpt: must be provider/model, or "*" for every model'],
    [`{ models: { 'openai/m': { context: 1 } } }`, 'models.openai/m: Unrecognized key: "context"'],
    [`{ models: { 'openai/m': { contextTokens: 0.5 } } }`, 'models.openai/m.contextTokens: '],
    [`{ models: { '*': { price: { inputPerMillion: 1 } } } }`, 'models.*.price.outputPerMillion: '],
  ])('say which field of %s is wrong', async (exported, line) => {
    await expect(loadTidemarkConfig({ configFile: fileWith(exported) })).rejects.toThrow(line);
  });
});

describe('TIDEMARK_CONFIG', () => {
  it('names the file, which must be there', () => {
    const file = join(folder, 'mine.config.ts');
    expect(() => loadConfig({ TIDEMARK_CONFIG: file })).toThrow('there is no such file');
    writeFileSync(file, 'export default {};');
    expect(loadConfig({ TIDEMARK_CONFIG: file }).configFile).toBe(file);
  });
});

let files = 0;

async function load(exported: string) {
  return (await loadTidemarkConfig({ configFile: fileWith(exported) })).engines;
}

function fileWith(exported: string): string {
  files += 1;
  const configFile = join(folder, `tidemark-${String(files)}.config.ts`);
  writeFileSync(configFile, `export default ${exported};\n`);
  return configFile;
}
