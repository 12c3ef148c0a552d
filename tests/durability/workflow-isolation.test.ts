import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { bundleWorkflowCode, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { expect, inject, it } from 'vitest';
import { takeNamespace } from '../../infra/testing/namespaces.ts';

const quiet = { trace() {}, debug() {}, info() {}, warn() {}, error() {}, log() {} };

it('runs at the same time share no variable of a module, so that no tenant sees another’s', async () => {
  Runtime.install({ logger: quiet, shutdownSignals: [] });
  const address = inject('temporalAddress');
  const namespace = await takeNamespace();
  const workflowsPath = fileURLToPath(new URL('../fixtures/counting-workflow.ts', import.meta.url));
  const workflowBundle = await bundleWorkflowCode({ workflowsPath, logger: quiet });
  const [native, connection] = await Promise.all([
    NativeConnection.connect({ address }),
    Connection.connect({ address }),
  ]);
  const worker = await Worker.create({ connection: native, namespace, taskQueue: 'isolation', workflowBundle });
  const temporal = new Client({ connection, namespace });
  const counts = await worker.runUntil(
    Promise.all(
      Array.from({ length: 20 }, async (_, i): Promise<number> => {
        return await temporal.workflow.execute('countOnce', {
          taskQueue: 'isolation',
          workflowId: `count-${String(i)}`,
        });
      }),
    ),
  );
  expect(counts).toEqual(Array.from({ length: 20 }, () => 1));
  await Promise.all([native.close(), connection.close()]);
});
