import { ENGINE_PACKAGES } from '../../../infra/engine-packages.ts';
import { OPENCODE_TOOLS, writeOpencodeHome } from './opencode-home.ts';
import { BY_FIXTURES, describeRealEngine } from './real-engine.ts';
import { promptOf } from './scripted-model.ts';

const made = { prompt: promptOf('make'), says: 'The make is over.' };
const AS_500 = { cannot: 'as an error 500: it tries again' };

describeRealEngine({
  name: 'opencode',
  record: `opencode-serve-${ENGINE_PACKAGES.opencode.version}`,
  tools: OPENCODE_TOOLS,
  async configure(home) {
    return { kind: 'opencode', modelRetries: 1, stallSeconds: 60, env: await writeOpencodeHome(home) };
  },
  trials: {
    text: { prompt: promptOf('text'), says: 'Hello from the scripted model.' },
    reasoning: { prompt: promptOf('reason'), says: 'The answer is 4.' },
    tool: { prompt: promptOf('print'), says: 'The print is over.' },
    parallel: BY_FIXTURES,
    approve: made,
    always: BY_FIXTURES,
    edit: { cannot: 'its protocol has no edited arguments' },
    reject: made,
    signal: BY_FIXTURES,
    question: { prompt: promptOf('question'), answer: { values: { answer: 'Blue' } }, says: 'The question is over.' },
    plan: { prompt: promptOf('plan'), says: 'The plan is over.' },
    file: { prompt: promptOf('write'), says: 'The write is over.' },
    child: { prompt: promptOf('child'), says: 'The child is over.' },
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
    'error-500': 'engine_failed',
    'error-529': AS_500,
    malformed: AS_500,
    reset: AS_500,
    stall: { cannot: 'it says nothing' },
  },
});
