import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { EngineSettings } from './engine-settings.ts';
import { findEngine } from './find-engine.ts';

let home = '';

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'find-engine-'));
  vi.stubEnv('PATH', join(home, 'bin'));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(home, { recursive: true });
});

describe('findEngine', () => {
  it('says how to install what is nowhere', () => {
    expect(find({ kind: 'acp', preset: 'codex' })).toEqual({
      installed: false,
      path: null,
      version: null,
      howToInstall: 'npm run engines -- install codex-acp',
    });
  });

  it('takes what is installed in the home before what is on PATH, and says its version', () => {
    const other = program('bin/opencode');
    expect(find({ kind: 'acp', preset: 'opencode' })).toMatchObject({ installed: true, path: other, version: null });
    const own = program('engines/opencode/node_modules/.bin/opencode');
    mkdirSync(join(home, 'engines/opencode/node_modules/opencode-ai'), { recursive: true });
    writeFileSync(join(home, 'engines/opencode/node_modules/opencode-ai/package.json'), '{"version":"1.2.3"}');
    expect(find({ kind: 'acp', preset: 'opencode' })).toMatchObject({
      path: own,
      version: '1.2.3',
      howToInstall: null,
    });
  });

  it('finds one package for each way in which it is driven', () => {
    const path = program('engines/opencode/node_modules/.bin/opencode');
    expect(find({ kind: 'opencode' })).toMatchObject({ path });
  });

  it('takes the command of the settings before both', () => {
    program('bin/codex');
    const mine = program('elsewhere/codex');
    expect(find({ kind: 'codex', command: [mine, 'app-server'] })).toMatchObject({ path: mine });
    expect(find({ kind: 'codex', command: ['/nowhere/codex'] })).toMatchObject({
      installed: false,
      howToInstall: 'Install /nowhere/codex, or correct its command in the config file.',
    });
  });

  it('takes Claude Code itself out of the package that adapts it, else from PATH', () => {
    expect(find({ kind: 'claude' })).toMatchObject({ howToInstall: 'npm run engines -- install claude' });
    const other = program('bin/claude');
    expect(find({ kind: 'claude' })).toMatchObject({ path: other, version: null });
    const modules = 'engines/claude/node_modules/@anthropic-ai';
    const own = program(`${modules}/claude-agent-sdk-${process.platform}-${process.arch}/claude`);
    mkdirSync(join(home, modules, 'claude-agent-sdk'), { recursive: true });
    writeFileSync(join(home, modules, 'claude-agent-sdk/package.json'), '{"claudeCodeVersion":"2.1.0"}');
    expect(find({ kind: 'claude' })).toMatchObject({ path: own, version: '2.1.0', howToInstall: null });
  });

  it('finds a module by its file, and takes a service as there', () => {
    expect(find({ kind: 'lifecycle', url: 'http://127.0.0.1:1' })).toMatchObject({ installed: true, path: null });
    expect(find({ kind: 'lifecycle', module: join(home, 'none.ts') })).toMatchObject({ installed: false });
    expect(find({ kind: 'langgraph', module: join(home, 'none.ts') })).toMatchObject({ installed: false });
    const module = program('agents/support.ts');
    expect(find({ kind: 'ai-sdk', module })).toMatchObject({ installed: true, path: module });
  });
});

function find(settings: object) {
  return findEngine({ home }, EngineSettings.parse(settings));
}

function program(path: string): string {
  const file = join(home, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, '#!/bin/sh\n');
  chmodSync(file, 0o755);
  return file;
}
