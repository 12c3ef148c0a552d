import langgraphPackage from '@langchain/langgraph/package.json' with { type: 'json' };
import { resolve } from 'node:path';
import { describeDriver } from './driver.testsuite.ts';

/** The host and its driver are those of agents of the AI SDK, whose record has these. */
const SAME_HOST = { cannot: 'the same host as that of the AI SDK: tried there' };
/** It goes on where it was, with the answer: its model is not told that it was stopped. */
const ASKED = { prompt: 'permission\nresult\ntext and the rest', says: 'ran make it' };

describeDriver({
  name: `langgraph-${langgraphPackage.version}`,
  resumes: true,
  start: () =>
    Promise.resolve({ settings: { kind: 'langgraph', module: resolve('tests/fixtures/engines/langgraph-agent.ts') } }),
  trials: {
    text: { prompt: 'text hello', says: 'hello' },
    reasoning: { prompt: 'thought let me see\ntext so', settings: { events: 'v3' } },
    tool: { prompt: 'tool 5000\ntext done', says: 'done', settings: { events: 'v3' } },
    parallel: { prompt: 'tools 2\ntext done' },
    approve: { prompt: 'permission\nresult', says: 'ran make it' },
    always: { cannot: 'the library has no such decision' },
    edit: { prompt: 'permission\nresult', editedArgs: { command: 'make test' }, says: 'ran make test' },
    reject: { prompt: 'permission\nresult', says: 'not today' },
    signal: SAME_HOST,
    question: { prompt: 'question\nresult', answer: { values: { answer: 'blue' } }, says: 'answered blue' },
    plan: { prompt: 'plan\ntext done' },
    file: { cannot: 'a tool says that it wrote a file, and not what was there before' },
    child: { prompt: 'child it\ntext done' },
    usage: { prompt: 'text hello' },
    commands: { cannot: 'its streams have no part for it' },
    'cancel-early': SAME_HOST,
    'cancel-text': { prompt: 'text half\nslow' },
    'cancel-tool': SAME_HOST,
    'cancel-question': { prompt: 'permission' },
    crash: SAME_HOST,
    silent: SAME_HOST,
    flood: SAME_HOST,
    malformed: { cannot: 'a module cannot write to the protocol of its host' },
    remembers: { prompt: 'text the first', next: 'recall', says: 'text the first' },
    'worker-killed': SAME_HOST,
    deploy: SAME_HOST,
    'deploy-question': SAME_HOST,
    park: ASKED,
    zombie: { cannot: 'the same for every engine: tried with acp' },
  },
});
