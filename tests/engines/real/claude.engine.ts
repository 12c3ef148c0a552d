import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BY_FIXTURES, BY_OWN_PROTOCOL, describeRealEngine } from './real-engine.ts';
import { promptOf, type ToolUse } from './scripted-model.ts';

const bash = (command: string): ToolUse => ({
  name: 'Bash',
  arguments: { command, description: 'A scripted command' },
});
const COLOURS = [
  { label: 'Red', description: 'warm' },
  { label: 'Blue', description: 'cold' },
];
const made = { prompt: promptOf('make'), says: 'The make is over.' };
const SLOW = {
  cannot: 'it takes longer to start than this scenario lets it be silent; a model that stalls is tried apart',
};

describeRealEngine({
  name: 'claude',
  tools: {
    print: bash('echo from-the-shell'),
    make: bash('touch made.txt'),
    linger: bash('sleep 30'),
    write: { name: 'Write', arguments: { file_path: 'note.txt', content: 'written by the agent\n' } },
    question: {
      name: 'AskUserQuestion',
      arguments: { questions: [{ question: 'Which colour?', header: 'Colour', multiSelect: false, options: COLOURS }] },
    },
  },
  async configure({ folder, modelUrl }) {
    await mkdir(join(folder, '.claude'));
    const allow = ['Bash(echo:*)', 'Bash(sleep:*)', 'Write'];
    const ask = ['Bash(touch:*)'];
    await writeFile(join(folder, '.claude', 'settings.json'), JSON.stringify({ permissions: { allow, ask } }));
    return {
      kind: 'acp',
      preset: 'claude',
      stallSeconds: 20,
      env: {
        HOME: folder,
        ANTHROPIC_BASE_URL: modelUrl,
        ANTHROPIC_API_KEY: 'dummy-key',
        CLAUDE_CODE_MAX_RETRIES: '1',
        DISABLE_TELEMETRY: '1',
        DISABLE_ERROR_REPORTING: '1',
        // as root it works nowhere else
        IS_SANDBOX: '1',
      },
    };
  },
  trials: {
    text: { prompt: promptOf('text'), says: 'Hello from the scripted model.' },
    reasoning: BY_OWN_PROTOCOL,
    tool: { prompt: promptOf('print'), says: 'The print is over.' },
    parallel: BY_OWN_PROTOCOL,
    approve: made,
    always: { cannot: 'not offered for what its settings want asked' },
    edit: { cannot: 'its protocol has no edited arguments' },
    reject: made,
    signal: BY_OWN_PROTOCOL,
    question: {
      prompt: promptOf('question'),
      answer: { values: { question_0: 'Blue' } },
      says: 'The question is over.',
    },
    plan: { cannot: 'its list of tasks is switched off by default' },
    file: BY_OWN_PROTOCOL,
    child: { cannot: 'it works in the background, and may end after the turn' },
    usage: { prompt: promptOf('text') },
    commands: { prompt: promptOf('text') },
    'cancel-early': BY_OWN_PROTOCOL,
    'cancel-text': { prompt: promptOf('long') },
    'cancel-tool': BY_OWN_PROTOCOL,
    'cancel-question': BY_OWN_PROTOCOL,
    crash: { cannot: 'nothing that a model says makes it crash' },
    silent: SLOW,
    flood: BY_FIXTURES,
    malformed: { cannot: 'it says nothing malformed' },
    remembers: { prompt: promptOf('text'), next: promptOf('recall'), says: 'I was told 2 things.' },
    'worker-killed': BY_OWN_PROTOCOL,
    deploy: BY_FIXTURES,
    'deploy-question': BY_OWN_PROTOCOL,
    park: BY_FIXTURES,
    zombie: BY_FIXTURES,
  },
  faults: {
    'error-500': 'engine_failed',
    'error-529': 'engine_failed',
    malformed: 'engine_failed',
    reset: 'engine_failed',
    stall: 'engine_stalled',
  },
});
