import aiPackage from 'ai/package.json' with { type: 'json' };
import { resolve } from 'node:path';
import { describeDriver } from './driver.testsuite.ts';
import { FLOOD_PIECES } from './fault-scenarios.ts';

const NO_PIECE = { cannot: 'its streams have no part for it' };
const STOPPED = { prompt: 'text half\nslow\nafter-stop\ntext and the rest', says: 'and the rest' };
/** It goes on where it was, with the answer: its model is not told that it was stopped. */
const ASKED = { prompt: 'permission\nresult\ntext and the rest', says: 'ran make it' };

describeDriver({
  name: `ai-${aiPackage.version}`,
  resumes: true,
  start: () =>
    Promise.resolve({ settings: { kind: 'ai-sdk', module: resolve('tests/fixtures/engines/ai-sdk-agent.ts') } }),
  trials: {
    text: { prompt: 'text hello', says: 'hello' },
    reasoning: { prompt: 'thought let me see\ntext so' },
    tool: { prompt: 'tool 5000\ntext done', says: 'done' },
    parallel: { prompt: 'tools 2\ntext done' },
    approve: { prompt: 'permission\nresult', says: 'ran make it' },
    always: { cannot: 'the library has no such decision' },
    edit: { cannot: 'the library has no edited arguments' },
    reject: { prompt: 'permission\nresult', says: 'not today' },
    signal: { prompt: 'permission\nresult', says: 'ran make it' },
    question: { prompt: 'question\nresult', answer: { values: { colour: 'blue' } }, says: '"colour":"blue"' },
    plan: { prompt: 'plan\ntext done' },
    file: { cannot: 'a tool says that it wrote a file, and not what was there before' },
    child: { prompt: 'child it\ntext done' },
    usage: { prompt: 'text hello' },
    commands: NO_PIECE,
    'cancel-early': { prompt: 'slow' },
    'cancel-text': { prompt: 'text half\nslow' },
    'cancel-tool': { prompt: 'hang' },
    'cancel-question': { prompt: 'permission' },
    crash: { prompt: 'text half\ncrash 3' },
    silent: { prompt: 'text half\nsilent' },
    flood: { prompt: `flood ${String(FLOOD_PIECES)}` },
    malformed: { cannot: 'a module cannot write to the protocol of its host' },
    remembers: { prompt: 'text the first', next: 'recall', says: 'text the first' },
    'worker-killed': STOPPED,
    deploy: STOPPED,
    'deploy-question': ASKED,
    park: ASKED,
    zombie: { cannot: 'the same for every engine: tried with acp' },
  },
});
