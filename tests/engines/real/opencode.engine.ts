import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BY_FIXTURES, describeRealEngine } from './real-engine.ts';
import { promptOf, type ToolUse } from './scripted-model.ts';

const bash = (command: string): ToolUse => ({
  name: 'bash',
  arguments: { command, description: 'A scripted command' },
});

/** Its configuration: the scripted server as its only provider, and what needs a person. */
function configOf(modelUrl: string) {
  return {
    autoupdate: false,
    share: 'disabled',
    model: 'local/scripted',
    small_model: 'local/scripted',
    enabled_providers: ['local'],
    provider: {
      local: {
        npm: '@ai-sdk/openai-compatible',
        name: 'Local',
        options: { baseURL: `${modelUrl}/v1`, apiKey: 'dummy' },
        models: { scripted: { name: 'Scripted', tool_call: true, limit: { context: 128_000, output: 8_192 } } },
      },
    },
    permission: { bash: { '*': 'allow', 'touch *': 'ask' }, edit: 'allow' },
  };
}

describeRealEngine({
  name: 'opencode',
  tools: {
    print: bash('echo from-the-shell'),
    make: bash('touch made.txt'),
    linger: bash('sleep 30'),
    write: { name: 'write', arguments: { filePath: 'note.txt', content: 'written by the agent\n' } },
    plan: {
      name: 'todowrite',
      arguments: { todos: [{ content: 'Look at the file', status: 'in_progress', priority: 'high' }] },
    },
  },
  async configure({ folder, modelUrl }) {
    const file = join(folder, 'opencode.json');
    await writeFile(file, JSON.stringify(configOf(modelUrl)));
    const xdg = Object.fromEntries(
      ['CONFIG', 'DATA', 'STATE', 'CACHE'].map((name) => [`XDG_${name}_HOME`, join(folder, name.toLowerCase())]),
    );
    await Promise.all(Object.values(xdg).map((path) => mkdir(path)));
    return {
      kind: 'acp',
      preset: 'opencode',
      stallSeconds: 20,
      env: { HOME: folder, ...xdg, OPENCODE_CONFIG: file, OPENCODE_DISABLE_MODELS_FETCH: '1' },
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
    // it ends its turn without a word then
    reject: { prompt: promptOf('make') },
    signal: BY_FIXTURES,
    question: { cannot: 'its question tool is not offered by its protocol' },
    plan: { prompt: promptOf('plan'), says: 'The plan is over.' },
    file: { prompt: promptOf('write'), says: 'The write is over.' },
    child: BY_FIXTURES,
    usage: { prompt: promptOf('text') },
    commands: { prompt: promptOf('text') },
    'cancel-early': BY_FIXTURES,
    'cancel-text': { prompt: promptOf('long') },
    'cancel-tool': { prompt: promptOf('linger') },
    'cancel-question': { prompt: promptOf('make') },
    crash: { cannot: 'nothing that a model says makes it crash' },
    silent: {
      cannot: 'it takes longer to start than this scenario lets it be silent; a model that fails is tried apart',
    },
    flood: BY_FIXTURES,
    malformed: { cannot: 'it says nothing malformed' },
    remembers: { prompt: promptOf('text'), next: promptOf('recall'), says: 'I was told 2 things.' },
    'worker-killed': { prompt: promptOf('long'), says: 'I went on.' },
    deploy: BY_FIXTURES,
    'deploy-question': BY_FIXTURES,
    park: BY_FIXTURES,
    zombie: BY_FIXTURES,
  },
  faults: {
    'error-500': 'engine_stalled',
    'error-529': { cannot: 'as an error 500: it tries again without a word, for ever' },
    malformed: { cannot: 'as an error 500: it tries again without a word, for ever' },
    reset: { cannot: 'as an error 500: it tries again without a word, for ever' },
    stall: { cannot: 'as an error 500: it says nothing' },
  },
});
