import { acpAgent } from '../fixtures/engine-config.ts';
import { describeDriver } from './driver.testsuite.ts';
import { FLOOD_PIECES } from './fault-scenarios.ts';

const APPROVED = 'make it: the-allow_once';
const STOPPED = 'text half\nslow\nafter-stop\ntext and the rest';
const ASKED = 'permission\nafter-stop\npermission\ntext and the rest';

describeDriver({
  name: 'acp',
  resumes: true,
  start: () => Promise.resolve({ settings: { kind: 'acp', command: acpAgent() } }),
  trials: {
    text: { prompt: 'text hello', says: 'hello' },
    reasoning: { prompt: 'thought let me see\ntext so' },
    tool: { prompt: 'tool 5000\ntext done', says: 'done' },
    parallel: { prompt: 'tools\ntext done' },
    approve: { prompt: 'permission', says: APPROVED },
    always: { prompt: 'permission', says: 'make it: the-allow_always' },
    edit: { cannot: 'the protocol has no edited arguments' },
    reject: { prompt: 'permission', says: 'make it: the-reject_once' },
    signal: { prompt: 'permission', says: APPROVED },
    question: { prompt: 'question', answer: { values: { colour: 'Blue' } }, says: '"colour":"b"' },
    plan: { prompt: 'plan\ntext done' },
    file: { prompt: 'edit notes.txt\ntext done' },
    child: { prompt: 'child\ntext done' },
    usage: { prompt: 'text done\nusage' },
    commands: { prompt: 'commands\ntext done' },
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
    zombie: { prompt: STOPPED, says: 'and the rest' },
  },
});
