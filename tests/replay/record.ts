// Records the histories that later versions must replay: `node tests/replay/record.ts` against a running
// `TIDEMARK_CONFIG=tests/replay/record.config.ts npm start`.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { Client, Connection } from '@temporalio/client';
import proto from '@temporalio/proto';
import { subAgentIdOf } from '../../contract/sub-agent.ts';
import { loadConfig } from '../../infra/config.ts';
import { Rest, type Run } from '../fixtures/rest.ts';

const { History } = proto.temporal.api.history.v1;
const { home } = loadConfig();
const urls = JSON.parse(await readFile(`${home}/urls.json`, 'utf8')) as { gateway: string; temporal_address: string };
const { version } = JSON.parse(await readFile('package.json', 'utf8')) as { version: string };
const folder = new URL(`./histories/${version}/`, import.meta.url);
const rest = new Rest(urls.gateway);

async function start(model: string): Promise<Run> {
  return await rest.startRun('record this', { model: `scripted/${model}` });
}

async function answer(run: Run, decision: unknown): Promise<void> {
  const [interrupt] = await rest.interruptOf(run.run_id);
  await rest.resolve(interrupt?.interrupt_id ?? '', decision);
}

const plain = await start('text');
const tools = await start('tools');
const approved = await start('approval');
await answer(approved, { decision: 'approve' });
const rejected = await start('approval');
await answer(rejected, { decision: 'reject' });
const question = await start('question');
await answer(question, { values: { answer: 'blue' } });
const cancelled = await start('slow');
const queued = await rest.startRun('record this', { model: 'scripted/text' }, cancelled.thread_id);
await rest.until('the slow run speaks', async () => ((await rest.events(cancelled)).length > 3 ? true : null));
await rest.send('POST', `/v1/runs/${cancelled.run_id}/cancel`);
const followed = await start('approval');
await rest.interruptOf(followed.run_id);
await rest.send('POST', `/v1/threads/${followed.thread_id}/runs`, { input: 'and again', multitask: 'follow_up' });
await answer(followed, { decision: 'approve' });
await answer(followed, { decision: 'approve' });
const parked = await start('approval');
await rest.interruptOf(parked.run_id);
await rest.send('POST', `/v1/runs/${parked.run_id}/cancel`);
const delegated = await start('delegate');
await answer(delegated, { decision: 'approve' });

const driven = await rest.startRun('12 * 7', { engine: 'calculator' });
await answer(driven, { decision: 'approve' });

const connection = await Connection.connect({ address: urls.temporal_address });
const temporal = new Client({ connection });
await mkdir(folder, { recursive: true });
const shortRuns = { plain, tools, approved, rejected, question, cancelled, queued, followed };
const runs = { ...shortRuns, 'cancelled-parked': parked, delegated, driven };
for (const run of Object.values(runs)) await rest.settled(run.run_id);
const workflows = {
  ...Object.fromEntries(Object.entries(runs).map(([name, run]) => [name, run.run_id])),
  'sub-agent': subAgentIdOf(delegated.run_id, 1),
  'sub-agent-approved': subAgentIdOf(delegated.run_id, 2),
};
for (const [name, workflowId] of Object.entries(workflows)) {
  // closed only a moment after the run is proven complete
  await temporal.workflow.getHandle(workflowId).result();
  const history = await temporal.workflow.getHandle(workflowId).fetchHistory();
  const plainObject = History.toObject(History.fromObject(history), { bytes: String, longs: String, enums: String });
  // a worker's identity and its sticky queue name the machine
  const text = JSON.stringify(plainObject, null, 1).replaceAll(hostname(), 'host');
  await writeFile(new URL(`${name}.json`, folder), `${text}\n`);
}
await connection.close();
