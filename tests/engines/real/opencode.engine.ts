import { OPENCODE_TOOLS, writeOpencodeHome } from './opencode-home.ts';
import { BY_FIXTURES, BY_OWN_PROTOCOL, describeRealEngine } from './real-engine.ts';
import { promptOf } from './scripted-model.ts';

describeRealEngine({
  name: 'opencode',
  tools: OPENCODE_TOOLS,
  async configure(home) {
    return { kind: 'acp', preset: 'opencode', stallSeconds: 20, env: await writeOpencodeHome(home) };
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
    plan: BY_OWN_PROTOCOL,
    file: BY_OWN_PROTOCOL,
    child: BY_FIXTURES,
    usage: { prompt: promptOf('text') },
    commands: { prompt: promptOf('text') },
    'cancel-early': BY_FIXTURES,
    'cancel-text': { prompt: promptOf('long') },
    'cancel-tool': BY_OWN_PROTOCOL,
    'cancel-question': BY_OWN_PROTOCOL,
    crash: { cannot: 'nothing that a model says makes it crash' },
    silent: {
      cannot: 'it takes longer to start than this scenario lets it be silent; a model that fails is tried apart',
    },
    flood: BY_FIXTURES,
    malformed: { cannot: 'it says nothing malformed' },
    remembers: { prompt: promptOf('text'), next: promptOf('recall'), says: 'I was told 2 things.' },
    'worker-killed': BY_OWN_PROTOCOL,
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
