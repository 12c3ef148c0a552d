import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { claudeCodeVersion } from '../../../infra/claude-code.ts';
import { loadConfig } from '../../../infra/config.ts';
import { engineFolder } from '../../../infra/find-engine.ts';
import { BY_FIXTURES, describeRealEngine } from './real-engine.ts';
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
const continued = { prompt: promptOf('long'), says: 'I went on.' };
const version = claudeCodeVersion(join(engineFolder(loadConfig().home, 'claude'), 'node_modules'));

describeRealEngine({
  name: 'claude',
  record: `claude-code-${version ?? 'unknown'}`,
  tools: {
    print: bash('echo from-the-shell'),
    make: bash('touch made.txt'),
    linger: bash('sleep 30'),
    write: { name: 'Write', arguments: { file_path: 'note.txt', content: 'written by the agent\n' } },
    plan: {
      name: 'TaskCreate',
      arguments: { subject: 'Look at the file', description: 'Read it', activeForm: 'Looking' },
    },
    question: {
      name: 'AskUserQuestion',
      arguments: { questions: [{ question: 'Which colour?', header: 'Colour', multiSelect: false, options: COLOURS }] },
    },
    child: {
      name: 'Task',
      arguments: { description: 'Look around', prompt: promptOf('text'), subagent_type: 'general-purpose' },
    },
  },
  async configure({ folder, modelUrl }) {
    await mkdir(join(folder, '.claude'));
    const permissions = { allow: ['Bash(echo:*)', 'Bash(sleep:*)'] };
    await writeFile(join(folder, '.claude', 'settings.json'), JSON.stringify({ permissions }));
    return {
      kind: 'claude',
      stallSeconds: 20,
      allowedTools: ['Write'],
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
    reasoning: { prompt: promptOf('reason'), says: 'The answer is 4.' },
    tool: { prompt: promptOf('print'), says: 'The print is over.' },
    parallel: { prompt: promptOf('parallel'), says: 'The parallel is over.' },
    approve: made,
    always: made,
    edit: { ...made, editedArgs: { command: 'touch edited.txt' } },
    reject: made,
    signal: BY_FIXTURES,
    question: {
      prompt: promptOf('question'),
      answer: { values: { question_0: 'Blue' } },
      says: 'The question is over.',
    },
    plan: { prompt: promptOf('plan'), settings: { tools: ['Bash', 'TaskCreate'] }, says: 'The plan is over.' },
    file: { prompt: promptOf('write'), says: 'The write is over.' },
    child: { prompt: promptOf('child'), says: 'The child is over.' },
    usage: { prompt: promptOf('text') },
    commands: { prompt: promptOf('text') },
    'cancel-early': { prompt: promptOf('long') },
    'cancel-text': { prompt: promptOf('long') },
    'cancel-tool': { prompt: promptOf('linger') },
    'cancel-question': { prompt: promptOf('make') },
    crash: { cannot: 'nothing that a model says makes it crash' },
    silent: { prompt: promptOf('stall') },
    flood: BY_FIXTURES,
    malformed: { cannot: 'it says nothing malformed' },
    remembers: { prompt: promptOf('text'), next: promptOf('recall'), says: 'I was told 2 things.' },
    'worker-killed': continued,
    deploy: BY_FIXTURES,
    'deploy-question': { prompt: promptOf('make'), says: 'I went on.' },
    park: { prompt: promptOf('make'), says: 'I went on.' },
    zombie: BY_FIXTURES,
  },
  faults: {
    'error-500': 'engine_failed',
    'error-529': 'engine_failed',
    malformed: 'engine_failed',
    reset: 'engine_failed',
    stall: { cannot: 'as the scenario `engine silent`' },
  },
});
