import { writeCodexHome } from '../codex-home.ts';
import { CODEX_TOOLS } from './codex-tools.ts';
import { BY_FIXTURES, describeRealEngine } from './real-engine.ts';
import { promptOf } from './scripted-model.ts';

const COLOUR = {
  id: 'colour',
  header: 'Colour',
  question: 'Which colour?',
  options: [
    { label: 'Red', description: 'warm' },
    { label: 'Blue', description: 'cold' },
  ],
};
const made = { prompt: promptOf('make'), says: 'The make is over.' };
const continued = { prompt: promptOf('long'), says: 'I went on.' };
const continuedAsk = { prompt: promptOf('make'), says: 'I went on.' };

describeRealEngine({
  name: 'codex',
  tools: {
    ...CODEX_TOOLS,
    question: { name: 'request_user_input', arguments: { questions: [COLOUR] } },
  },
  async configure({ folder, modelUrl }) {
    return {
      kind: 'codex',
      approvalPolicy: 'on-request',
      stallSeconds: 15,
      env: await writeCodexHome({ folder, baseUrl: `${modelUrl}/v1` }),
    };
  },
  trials: {
    text: { prompt: promptOf('text'), says: 'Hello from the scripted model.' },
    reasoning: { prompt: promptOf('reason'), says: 'The answer is 4.' },
    tool: { prompt: promptOf('print'), says: 'The print is over.' },
    parallel: { prompt: promptOf('parallel'), says: 'The parallel is over.' },
    approve: made,
    always: made,
    edit: { cannot: 'its protocol has no edited arguments' },
    reject: made,
    signal: made,
    question: {
      prompt: promptOf('question'),
      settings: { collaborationMode: 'plan' },
      answer: { values: { colour: 'Blue' } },
      says: 'The question is over.',
    },
    plan: { prompt: promptOf('plan'), says: 'The plan is over.' },
    file: { prompt: promptOf('write'), says: 'The write is over.' },
    child: { cannot: 'its tools for sub-agents are in a namespace, of which the scripted model cannot call' },
    usage: { prompt: promptOf('text') },
    commands: { cannot: 'it has none' },
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
    deploy: continued,
    'deploy-question': continuedAsk,
    park: continuedAsk,
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
