import { hash } from 'node:crypto';
import { BUILTIN_ENGINE } from '../../contract/engines.ts';
import { TidemarkError } from '../../contract/errors.ts';
import type { CallerState, SubmitOptions } from '../../contract/extensions/register-kinds.ts';
import { CreateRun } from '../../contract/rest.ts';
import { dispatchCommand } from '../../infra/dispatcher.ts';
import { acceptRun } from '../../infra/postgres/accept-run.ts';
import type { ExtensionCallRow } from '../../infra/postgres/extension-call.ts';
import { currentRunOf, type RunRow } from '../../infra/postgres/run.ts';
import { threadOfTenant } from '../../infra/postgres/thread.ts';
import { agentOf } from '../agent-of.ts';
import type { Dependencies } from '../dependencies.ts';

/** What the extensions see of the thread that they are asked for. */
export async function callerStateOf(
  deps: Dependencies,
  { call_id: callId, tenant_id: tenantId, thread_id: threadId }: ExtensionCallRow,
  signal: AbortSignal,
): Promise<CallerState> {
  const { pool } = deps;
  const thread = threadId === null ? null : await threadOfTenant(pool, tenantId, threadId);
  const run = thread === null ? null : await currentRunOf(pool, thread.thread_id);
  let submitted = 0;
  return {
    threadId,
    agent: run === null ? null : agentOf(run),
    isBusy: run !== null && run.settled_at === null,
    signal,
    submit: async (input, options = {}) => await submit(input, options),
  };

  /** As a client's `POST /v1/threads/{id}/runs`, in the thread's engine and model. */
  async function submit(input: string, { whenBusy = 'enqueue', settings = {} }: SubmitOptions) {
    if (threadId === null) {
      throw new TidemarkError('nothing_to_run', 'there is no thread to run in', 'Call this for a thread.');
    }
    const body = CreateRun.parse({ input, multitask: whenBusy, settings });
    const fingerprint = hash('sha256', `${callId}\n${String(submitted)}`);
    const { run: accepted } = await acceptRun(pool, {
      tenantId,
      threadId,
      input,
      engine: run?.engine ?? BUILTIN_ENGINE,
      model: run?.model ?? deps.config.model,
      parentRunId: null,
      multitask: body.multitask ?? 'enqueue',
      settings: (body.settings ?? {}) as RunRow['settings'],
      metadata: {},
      idempotencyKey: `${callId}.${String(submitted++)}`,
      fingerprint,
    });
    // what fails here is done by a dispatcher, from the command's row
    await dispatchCommand(deps, { run_id: accepted.run_id, kind: 'run.create' }).catch((error: unknown) => {
      deps.log.warn({ err: error, runId: accepted.run_id }, 'Temporal not told; a dispatcher will');
    });
    return { runId: accepted.run_id, queued: accepted.status === 'queued' && run?.settled_at === null };
  }
}
