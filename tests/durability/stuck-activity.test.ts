import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { bundleWorkflowCode } from '@temporalio/worker';
import { expect, inject, it } from 'vitest';
import { inheritedEnv } from '../../infra/config.ts';
import { takeNamespace } from '../../infra/testing/namespaces.ts';

const quiet = { trace() {}, debug() {}, info() {}, warn() {}, error() {}, log() {} };
const workflowsPath = fileURLToPath(new URL('../fixtures/stuck-workflow.ts', import.meta.url));
const workerPath = fileURLToPath(new URL('../fixtures/stuck-worker-main.ts', import.meta.url));

it('a worker with an activity that never returns ends within its force time after SIGTERM, with a code that is not 0', async () => {
  const address = inject('temporalAddress');
  const namespace = await takeNamespace();
  const { code } = await bundleWorkflowCode({ workflowsPath, logger: quiet });
  const bundle = join(await mkdtemp(join(inject('scratch'), 'stuck-')), 'bundle.js');
  await writeFile(bundle, code);
  const worker = spawn(process.execPath, [workerPath], {
    env: inheritedEnv({ STUCK_ADDRESS: address, STUCK_NAMESPACE: namespace, STUCK_BUNDLE: bundle }),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(worker, 'exit');
  const connection = await Connection.connect({ address });
  try {
    const temporal = new Client({ connection, namespace });
    await temporal.workflow.start('waitForStuck', { taskQueue: 'stuck', workflowId: 'stuck' });
    for await (const chunk of worker.stdout) if (String(chunk).includes('stuck\n')) break;
    worker.kill('SIGTERM');
    const [exitCode, signal] = (await exited) as [number | null, string | null];
    expect(signal).toBeNull();
    expect(exitCode).not.toBe(0);
    await temporal.workflow.getHandle('stuck').terminate();
  } finally {
    worker.kill('SIGKILL');
    await connection.close();
  }
});
