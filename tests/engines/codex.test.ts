import { codexAppServer } from '../fixtures/engine-config.ts';
import { describeDriver } from './driver.testsuite.ts';
import { FLOOD_PIECES } from './fault-scenarios.ts';

const APPROVED = 'make it: accept.';
const STOPPED = 'text half\nslow\nafter-stop\ntext and the rest';
const ASKED = 'permission\nafter-stop\npermission\ntext and the rest';

describeDriver({
  name: 'codex',
  resumes: true,
  start: () => Promise.resolve({ settings: { kind: 'codex', command: codexAppServer() } }),
  trials: {
    text: { prompt: 'text hello', says: 'hello' },
    reasoning: { prompt: 'thought let me see\ntext so' },
    tool: { prompt: 'tool 5000\ntext done', says: 'done' },
    parallel: { prompt: 'tools\ntext done' },
    approve: { prompt: 'permission', says: APPROVED },
    always: { prompt: 'permission', says: 'make it: acceptForSession' },
    edit: { cannot: 'the protocol has no edited arguments' },
    reject: { prompt: 'permission', says: 'make it: decline' },
    signal: { prompt: 'permission', says: APPROVED },
    question: { prompt: 'question', answer: { values: { colour: 'Blue' } }, says: 'Blue' },
    plan: { prompt: 'plan\ntext done' },
    file: { prompt: 'edit notes.txt\ntext done' },
    child: { prompt: 'child\ntext done' },
    usage: { prompt: 'text done\nusage' },
    commands: { cannot: 'the protocol does not say them' },
    'cancel-early': { prompt: 'slow' },
    'cancel-text': { prompt: 'text half\nslow' },
    'cancel-tool': { prompt: 'hang' },
    'cancel-question': { prompt: 'permission' },
    crash: { prompt: 'text half\ncrash 3' },
    silent: { prompt: 'text half\nsilent' },
    flood: { prompt: `flood ${String(FLOOD_PIECES)}` },
    malformed: { prompt: 'text half\nmalformed {{' },
    remembers: { prompt: 'text the first', next: 'recall', says: 'text the first' },
    'worker-killed': { prompt: STOPPED, says: 'and the rest' },
    deploy: { prompt: STOPPED, says: 'and the rest' },
    'deploy-question': { prompt: ASKED, says: 'and the rest' },
    park: { prompt: ASKED, says: 'and the rest' },
    zombie: { cannot: 'the same for every engine: tried with acp' },
  },
});
