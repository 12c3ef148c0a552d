import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BY_FIXTURES, describeRealEngine } from './real-engine.ts';
import { promptOf, type ToolUse } from './scripted-model.ts';

const bash = (command: string): ToolUse => ({ name: 'bash', arguments: { command } });
const write = (path: string): ToolUse => ({ name: 'write', arguments: { path, content: 'written by the agent\n' } });

/** Its models: the scripted server as its only provider. */
function modelsOf(modelUrl: string) {
  const local = {
    baseUrl: `${modelUrl}/v1`,
    api: 'openai-completions',
    apiKey: 'dummy',
    compat: { supportsDeveloperRole: false, supportsReasoningEffort: false },
    models: [{ id: 'scripted', name: 'Scripted', reasoning: true, contextWindow: 128_000, maxTokens: 8_192 }],
  };
  return { providers: { local } };
}

const made = { prompt: promptOf('make'), says: 'The make is over.' };

describeRealEngine({
  name: 'pi',
  tools: {
    print: bash('echo from-the-shell'),
    make: write('made.txt'),
    linger: bash('sleep 30'),
    write: write('note.txt'),
    question: {
      name: 'ask_user',
      arguments: { question: 'Which colour?', options: [{ label: 'Red' }, { label: 'Blue' }] },
    },
  },
  async configure({ folder, modelUrl }) {
    const agent = join(folder, 'agent');
    await mkdir(agent);
    await writeFile(join(agent, 'models.json'), JSON.stringify(modelsOf(modelUrl)));
    // three tries, as it does by itself, but without its minutes between them
    await writeFile(join(agent, 'settings.json'), JSON.stringify({ retry: { baseDelayMs: 10 } }));
    return {
      kind: 'pi',
      model: 'local/scripted',
      ask: ['write'],
      stallSeconds: 15,
      env: { HOME: folder, PI_CODING_AGENT_DIR: agent, PI_OFFLINE: '1' },
    };
  },
  trials: {
    text: { prompt: promptOf('text'), says: 'Hello from the scripted model.' },
    reasoning: { prompt: promptOf('reason'), says: 'The answer is 4.' },
    tool: { prompt: promptOf('print'), says: 'The print is over.' },
    parallel: { prompt: promptOf('parallel'), says: 'The parallel is over.' },
    approve: made,
    always: made,
    edit: { ...made, editedArgs: { path: 'edited.txt', content: 'by a person\n' } },
    reject: made,
    signal: BY_FIXTURES,
    question: { prompt: promptOf('question'), answer: { values: { answer: 'Blue' } }, says: 'The question is over.' },
    plan: { cannot: 'it has no plan of its own' },
    file: { prompt: promptOf('write'), settings: { ask: [] }, says: 'The write is over.' },
    child: { cannot: 'it has no sub-agents' },
    usage: { prompt: promptOf('text') },
    commands: { prompt: promptOf('text') },
    'cancel-early': { prompt: promptOf('long') },
    'cancel-text': { prompt: promptOf('long') },
    'cancel-tool': { prompt: promptOf('linger') },
    'cancel-question': { prompt: promptOf('make') },
    crash: { cannot: 'nothing that a model says makes it crash' },
    silent: BY_FIXTURES,
    flood: BY_FIXTURES,
    malformed: { cannot: 'it says nothing malformed' },
    remembers: { prompt: promptOf('text'), next: promptOf('recall'), says: 'I was told 2 things.' },
    'worker-killed': { prompt: promptOf('long'), says: 'I went on.' },
    deploy: BY_FIXTURES,
    'deploy-question': { prompt: promptOf('make'), says: 'I went on.' },
    park: BY_FIXTURES,
    zombie: BY_FIXTURES,
  },
  faults: {
    'error-500': 'engine_failed',
    'error-529': { cannot: 'as an error 500' },
    malformed: 'engine_failed',
    reset: 'engine_failed',
    stall: 'engine_stalled',
  },
});
