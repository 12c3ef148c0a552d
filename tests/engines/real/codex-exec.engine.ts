import { ENGINE_PACKAGES } from '../../../infra/engine-packages.ts';
import { writeCodexHome } from '../codex-home.ts';
import { CODEX_TOOLS } from './codex-tools.ts';
import { BY_FIXTURES, describeRealEngine } from './real-engine.ts';
import { promptOf } from './scripted-model.ts';

const ASKS_NOBODY = { cannot: 'it asks nobody' };
/** It says its texts whole: this one is said before a tool works for long. */
const working = { prompt: promptOf('linger'), says: 'I went on.' };

describeRealEngine({
  name: 'codex',
  record: `codex-exec-${ENGINE_PACKAGES.codex.version}`,
  tools: CODEX_TOOLS,
  async configure({ folder, modelUrl }) {
    return { kind: 'codex-exec', stallSeconds: 15, env: await writeCodexHome({ folder, baseUrl: `${modelUrl}/v1` }) };
  },
  trials: {
    text: { prompt: promptOf('text'), says: 'Hello from the scripted model.' },
    reasoning: { prompt: promptOf('reason'), says: 'The answer is 4.' },
    tool: { prompt: promptOf('print'), says: 'The print is over.' },
    parallel: { prompt: promptOf('parallel'), says: 'The parallel is over.' },
    approve: ASKS_NOBODY,
    always: ASKS_NOBODY,
    edit: ASKS_NOBODY,
    reject: ASKS_NOBODY,
    signal: ASKS_NOBODY,
    question: ASKS_NOBODY,
    plan: { prompt: promptOf('plan'), says: 'The plan is over.' },
    file: { prompt: promptOf('write'), says: 'The write is over.' },
    child: { cannot: 'its tools for sub-agents are in a namespace, of which the scripted model cannot call' },
    usage: { prompt: promptOf('text') },
    commands: { cannot: 'it has none' },
    'cancel-early': { prompt: promptOf('long') },
    'cancel-text': { cannot: 'it says its texts whole' },
    'cancel-tool': { prompt: promptOf('linger') },
    'cancel-question': ASKS_NOBODY,
    crash: { cannot: 'nothing that a model says makes it crash' },
    silent: { prompt: promptOf('stall') },
    flood: BY_FIXTURES,
    malformed: { cannot: 'it says nothing malformed' },
    remembers: { prompt: promptOf('text'), next: promptOf('recall'), says: 'I was told 2 things.' },
    'worker-killed': working,
    deploy: BY_FIXTURES,
    'deploy-question': ASKS_NOBODY,
    park: ASKS_NOBODY,
    zombie: BY_FIXTURES,
  },
  faults: {
    'error-500': 'engine_failed',
    'error-529': { cannot: 'as an error 500' },
    malformed: { cannot: 'as an error 500' },
    reset: 'engine_failed',
    stall: { cannot: 'as the scenario `engine silent`' },
  },
});
