import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BY_FIXTURES, describeRealEngine } from './real-engine.ts';
import { promptOf, type ToolUse } from './scripted-model.ts';

const shell = (command: string): ToolUse => ({
  name: 'run_shell_command',
  arguments: { command, description: 'A scripted command' },
});

/** It signs in with a key, and changes nothing of itself. */
const SETTINGS = {
  security: { auth: { selectedType: 'gemini-api-key' } },
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
  general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
  model: { name: 'gemini-2.5-flash' },
  // it asks before each of the others
  tools: { allowed: ['write_file'] },
};

const LOSES_SESSION = 'it loses a session when it is to load it: the next run is told the conversation instead';

describeRealEngine({
  name: 'gemini',
  tools: {
    print: { name: 'list_directory', arguments: { dir_path: '.' } },
    make: shell('touch made.txt'),
    linger: shell('sleep 30'),
    write: { name: 'write_file', arguments: { file_path: 'note.txt', content: 'written by the agent\n' } },
  },
  async configure({ folder, modelUrl }) {
    await mkdir(join(folder, '.gemini'));
    await writeFile(join(folder, '.gemini', 'settings.json'), JSON.stringify(SETTINGS));
    return {
      kind: 'acp',
      preset: 'gemini',
      stallSeconds: 30,
      env: { HOME: folder, GEMINI_API_KEY: 'dummy', GOOGLE_GEMINI_BASE_URL: modelUrl, NO_BROWSER: 'true' },
    };
  },
  trials: {
    text: { prompt: promptOf('text'), says: 'Hello from the scripted model.' },
    reasoning: BY_FIXTURES,
    tool: { prompt: promptOf('print'), says: 'The print is over.' },
    parallel: BY_FIXTURES,
    approve: { prompt: promptOf('make'), says: 'The make is over.' },
    always: BY_FIXTURES,
    edit: { cannot: 'its protocol has no edited arguments' },
    // of a call that was refused it says nothing more
    reject: { prompt: promptOf('make') },
    signal: BY_FIXTURES,
    question: BY_FIXTURES,
    plan: { cannot: 'its protocol has no plan of this engine' },
    file: { prompt: promptOf('write'), says: 'The write is over.' },
    child: BY_FIXTURES,
    usage: { prompt: promptOf('text') },
    commands: { prompt: promptOf('text') },
    'cancel-early': BY_FIXTURES,
    'cancel-text': { prompt: promptOf('long') },
    'cancel-tool': BY_FIXTURES,
    'cancel-question': BY_FIXTURES,
    crash: { cannot: 'nothing that a model says makes it crash' },
    silent: BY_FIXTURES,
    flood: BY_FIXTURES,
    malformed: { cannot: 'it says nothing malformed' },
    remembers: { cannot: LOSES_SESSION },
    'worker-killed': { cannot: LOSES_SESSION },
    deploy: BY_FIXTURES,
    'deploy-question': BY_FIXTURES,
    park: BY_FIXTURES,
    zombie: BY_FIXTURES,
  },
  faults: {
    'error-500': 'engine_stalled',
    'error-529': { cannot: 'as an error 500: it tries again without a word' },
    malformed: 'engine_failed',
    reset: { cannot: 'as an error 500: it tries again without a word' },
    stall: { cannot: 'as an error 500: it says nothing' },
  },
});
