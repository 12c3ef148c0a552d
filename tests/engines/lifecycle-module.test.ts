import { resolve } from 'node:path';
import { describeDriver } from './driver.testsuite.ts';
import { FLOOD_PIECES } from './fault-scenarios.ts';

const NO_SESSIONS = { cannot: 'this adapter keeps no sessions' };
const UNTOLD = { cannot: 'lifecycle v1 does not say it' };

describeDriver({
  name: 'lifecycle-module',
  resumes: false,
  start: () =>
    Promise.resolve({ settings: { kind: 'lifecycle', module: resolve('tests/fixtures/engines/lifecycle-agent.ts') } }),
  trials: {
    text: { prompt: 'text hello', says: 'hello' },
    reasoning: { prompt: 'thought let me see\ntext so' },
    tool: { prompt: 'tools 1\ntext done', says: 'done' },
    parallel: { prompt: 'tools 2\ntext done' },
    approve: { prompt: 'permission', says: '"approve"' },
    always: { cannot: 'lifecycle v1 has no such decision' },
    edit: { prompt: 'permission', editedArgs: { command: 'make test' }, says: 'make test' },
    reject: { prompt: 'permission', says: 'not today' },
    signal: { prompt: 'permission', says: '"approve"' },
    question: { prompt: 'question', answer: { values: { colour: 'blue' } }, says: '"colour":"blue"' },
    plan: UNTOLD,
    file: UNTOLD,
    child: { cannot: 'not scripted' },
    usage: { prompt: 'usage\ntext done' },
    commands: UNTOLD,
    'cancel-early': { prompt: 'slow' },
    'cancel-text': { prompt: 'text half\nslow' },
    'cancel-tool': { prompt: 'hang' },
    'cancel-question': { prompt: 'permission' },
    crash: { prompt: 'text half\ncrash', code: 'engine_failed' },
    silent: { prompt: 'text half\nsilent' },
    flood: { prompt: `flood ${String(FLOOD_PIECES)}` },
    malformed: { prompt: 'text half\nmalformed canary', code: 'harness_event_invalid' },
    remembers: NO_SESSIONS,
    'worker-killed': { prompt: 'text half\nslow' },
    deploy: { prompt: 'text half\nslow' },
    'deploy-question': NO_SESSIONS,
    park: NO_SESSIONS,
    zombie: { cannot: 'the same for every engine: tried with acp' },
  },
});
