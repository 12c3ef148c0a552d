import type { EngineSettings } from './engine-settings.ts';

/** An npm package that is an engine, at the version that its driver was tried with. */
export interface EnginePackage {
  readonly package: string;
  readonly version: string;
  readonly bin: string;
  /** Its program is only there when its own installation script has run; the others need none. */
  readonly needsScript: boolean;
  /** What it takes on disk, roughly (Linux, x64). */
  readonly sizeMb: number;
}

/** Name of the folder under `<home>/engines` → what is installed there. */
export const ENGINE_PACKAGES = {
  opencode: { package: 'opencode-ai', version: '1.18.33', bin: 'opencode', needsScript: true, sizeMb: 355 },
  claude: {
    package: '@agentclientprotocol/claude-agent-acp',
    version: '0.101.0',
    bin: 'claude-agent-acp',
    needsScript: false,
    sizeMb: 402,
  },
  codex: { package: '@openai/codex', version: '0.171.0', bin: 'codex', needsScript: false, sizeMb: 424 },
  'codex-acp': {
    package: '@agentclientprotocol/codex-acp',
    version: '2.6.0',
    bin: 'codex-acp',
    needsScript: false,
    sizeMb: 457,
  },
  gemini: { package: '@google/gemini-cli', version: '0.61.0', bin: 'gemini', needsScript: false, sizeMb: 100 },
  pi: { package: '@earendil-works/pi-coding-agent', version: '1.6.0', bin: 'pi', needsScript: false, sizeMb: 168 },
} as const satisfies Readonly<Record<string, EnginePackage>>;

export type EnginePackageName = keyof typeof ENGINE_PACKAGES;

/** The package that an engine runs; null when it runs none of these. */
export function packageOf(settings: EngineSettings): EnginePackageName | null {
  switch (settings.kind) {
    case 'acp':
      return settings.preset === 'codex' ? 'codex-acp' : (settings.preset ?? null);
    case 'claude':
    case 'codex':
    case 'opencode':
      return settings.kind;
    case 'codex-exec':
      return 'codex';
    case 'ai-sdk':
    case 'langgraph':
    case 'lifecycle':
      return null;
    case 'pi':
      return 'pi';
  }
}
