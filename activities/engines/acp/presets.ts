import type { PresetName } from '../../../infra/engine-settings.ts';

/** What a known agent must be told to work here, beside its package (`infra/engine-packages.ts`). Plain data. */
export interface EnginePreset {
  /** What makes it speak the protocol. */
  readonly args: readonly string[];
  /** The session mode in which it asks before it acts; null: its own first one does. */
  readonly mode: string | null;
  /** Whether files are read and written for it, as an editor would; else it does so itself. */
  readonly usesClientFiles: boolean;
  /** Set for its process. */
  readonly env: Readonly<Record<string, string>>;
  /** Of the worker's environment, what its process gets: its keys, and where its services are. */
  readonly passEnv: readonly string[];
}

export const ACP_PRESETS: Readonly<Record<PresetName, EnginePreset>> = {
  opencode: {
    args: ['acp'],
    // what it asks for is in its own configuration, `permission`
    mode: null,
    usesClientFiles: true,
    env: { OPENCODE_DISABLE_AUTOUPDATE: '1' },
    passEnv: [
      ...['OPENCODE_CONFIG', 'OPENCODE_CONFIG_CONTENT', 'OPENCODE_API_KEY'],
      ...['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'OPENROUTER_API_KEY', 'GEMINI_API_KEY'],
    ],
  },
  claude: {
    args: [],
    // it begins in `auto`, in which it decides itself what is safe
    mode: 'default',
    usesClientFiles: true,
    env: { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', DISABLE_AUTOUPDATER: '1' },
    passEnv: [
      'ANTHROPIC_API_KEY',
      'ANTHROPIC_AUTH_TOKEN',
      'ANTHROPIC_BASE_URL',
      'CLAUDE_CODE_OAUTH_TOKEN',
      'IS_SANDBOX',
    ],
  },
  codex: {
    args: [],
    // it begins in `agent`, in which a model reviews what it does and nobody is asked
    mode: 'workspace-write',
    usesClientFiles: true,
    env: { NO_BROWSER: '1' },
    passEnv: ['OPENAI_API_KEY', 'OPENAI_BASE_URL', 'CODEX_API_KEY', 'CODEX_HOME'],
  },
  gemini: {
    args: ['--acp'],
    mode: 'default',
    // 0.61 does not understand that a file is not there, and writes no new one
    usesClientFiles: false,
    env: { GEMINI_CLI_TRUST_WORKSPACE: 'true' },
    passEnv: [
      ...['GEMINI_API_KEY', 'GOOGLE_API_KEY', 'GOOGLE_GEMINI_BASE_URL', 'GOOGLE_GENAI_USE_VERTEXAI'],
      ...['GOOGLE_CLOUD_PROJECT', 'GOOGLE_CLOUD_LOCATION', 'GOOGLE_APPLICATION_CREDENTIALS'],
    ],
  },
};
