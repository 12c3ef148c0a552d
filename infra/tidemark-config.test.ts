import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConfigError, loadConfig } from './config.ts';
import { loadTidemarkConfig } from './tidemark-config.ts';

let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tidemark-config-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('loadTidemarkConfig', () => {
  it('has the presets without a file', async () => {
    const { engines } = await loadTidemarkConfig({ configFile: undefined });
    expect([...engines.keys()]).toEqual(['opencode', 'claude', 'codex', 'gemini']);
    expect(engines.get('codex')).toMatchObject({ kind: 'codex', memoryMb: 4_096, approvalPolicy: 'untrusted' });
  });

  it('adds, overrides and removes by the file, and finds paths from it', async () => {
    const engines = await load(`{ engines: {
      gemini: false,
      codex: { kind: 'codex', model: 'gpt-5' },
      mine: { kind: 'acp', command: ['./bin/agent', '--acp'] },
      notes: { kind: 'lifecycle', module: './notes.ts' },
    } } satisfies object`);
    expect([...engines.keys()]).toEqual(['opencode', 'claude', 'codex', 'mine', 'notes']);
    expect(engines.get('codex')).toMatchObject({ model: 'gpt-5' });
    expect(engines.get('mine')).toMatchObject({ command: [join(folder, 'bin/agent'), '--acp'] });
    expect(engines.get('notes')).toMatchObject({ module: join(folder, 'notes.ts') });
  });

  it.each([
    [`{ engines: { mine: { kind: 'acp' } } }`, 'engines.mine.command: is needed'],
    [`{ engines: { mine: { kind: 'lifecycle' } } }`, 'engines.mine.module: is needed'],
    [`{ engines: { codex: { kind: 'codex', memory: 1 } } }`, 'engines.codex: Unrecognized key: "memory"'],
    [`{ engines: { codex: { kind: 'codex', memoryMb: -1 } } }`, 'engines.codex.memoryMb: '],
    [`{ engines: { mine: { kind: 'mcp' } } }`, 'engines.mine.kind: '],
    [`{ engines: { builtin: { kind: 'codex' } } }`, 'engines.builtin: is the name of the engine that Tidemark brings'],
    [`{ engines: { 'My Engine': false } }`, 'engines.My Engine: must begin with a letter'],
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
  files += 1;
  const configFile = join(folder, `tidemark-${String(files)}.config.ts`);
  writeFileSync(configFile, `export default ${exported};\n`);
  return (await loadTidemarkConfig({ configFile })).engines;
}
