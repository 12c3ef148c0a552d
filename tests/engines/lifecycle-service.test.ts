import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { describeDriver } from './driver.testsuite.ts';
import type { StartedSubject } from './subject.ts';

const NOT_IN_THE_EXAMPLE = { cannot: 'the example service does not' };
const NO_SESSIONS = { cannot: 'this adapter keeps no sessions' };
const UNTOLD = { cannot: 'lifecycle v1 does not say it' };
const APPROVED = 'It is 84.';

describeDriver({
  name: 'lifecycle-service',
  resumes: false,
  start: startService,
  trials: {
    text: { prompt: 'hello', says: 'Give me a product' },
    reasoning: NOT_IN_THE_EXAMPLE,
    tool: NOT_IN_THE_EXAMPLE,
    parallel: NOT_IN_THE_EXAMPLE,
    approve: { prompt: '12 * 7', says: APPROVED },
    always: { cannot: 'lifecycle v1 has no such decision' },
    edit: { prompt: '12 * 7', editedArgs: { factors: [3, 5] }, says: 'It is 15.' },
    reject: { prompt: '12 * 7', says: 'Then I leave it.' },
    signal: { prompt: '12 * 7', says: APPROVED },
    question: NOT_IN_THE_EXAMPLE,
    plan: UNTOLD,
    file: UNTOLD,
    child: NOT_IN_THE_EXAMPLE,
    usage: NOT_IN_THE_EXAMPLE,
    commands: UNTOLD,
    'cancel-early': NOT_IN_THE_EXAMPLE,
    'cancel-text': NOT_IN_THE_EXAMPLE,
    'cancel-tool': NOT_IN_THE_EXAMPLE,
    'cancel-question': { prompt: '12 * 7' },
    crash: NOT_IN_THE_EXAMPLE,
    silent: NOT_IN_THE_EXAMPLE,
    flood: NOT_IN_THE_EXAMPLE,
    malformed: NOT_IN_THE_EXAMPLE,
    remembers: NO_SESSIONS,
    'worker-killed': NOT_IN_THE_EXAMPLE,
    deploy: NOT_IN_THE_EXAMPLE,
    'deploy-question': NO_SESSIONS,
    park: NO_SESSIONS,
    zombie: NOT_IN_THE_EXAMPLE,
  },
});

/** The example in Python, as its README starts it, on a free port. */
async function startService(): Promise<StartedSubject> {
  const service = spawn('python3', ['examples/lifecycle-service-python/service.py', '0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = await addressOf(service);
  const exited = new Promise<void>((resolve) => service.once('exit', () => resolve()));
  return {
    settings: { kind: 'lifecycle', url },
    async stop() {
      service.kill();
      await exited;
    },
  };
}

async function addressOf(service: ChildProcessByStdio<null, Readable, null>): Promise<string> {
  for await (const line of createInterface({ input: service.stdout })) {
    const url = /http:\S+/.exec(line)?.[0];
    if (url !== undefined) return url;
  }
  throw new Error('the service ended before it listened');
}
