import { rename, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode } from '@temporalio/worker';

const WORKFLOWS = fileURLToPath(new URL('../workflows/index.ts', import.meta.url));
export const INTERCEPTORS = fileURLToPath(new URL('../workflows/interceptors.ts', import.meta.url));

/** Bundles the workflow code to a file: done once, not at every worker's start (2.6–10 s; research, §0.11). */
export async function buildWorkflowBundle(path: string): Promise<void> {
  const quiet = { trace() {}, debug() {}, info() {}, warn() {}, error() {}, log() {} };
  const { code } = await bundleWorkflowCode({
    workflowsPath: WORKFLOWS,
    workflowInterceptorModules: [INTERCEPTORS],
    logger: quiet,
  });
  await writeFile(`${path}.${String(process.pid)}.tmp`, code);
  await rename(`${path}.${String(process.pid)}.tmp`, path);
}
