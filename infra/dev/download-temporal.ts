// Run by temporal-binary.ts: makes Temporal's SDK fetch its dev server into the folder given as the argument.
import { TestWorkflowEnvironment } from '@temporalio/testing';

const downloadDir = process.argv[2];
if (downloadDir === undefined) throw new Error('usage: download-temporal.ts FOLDER');
const environment = await TestWorkflowEnvironment.createLocal({
  server: { executable: { type: 'cached-download', downloadDir } },
});
await environment.teardown();
