import type { TidemarkClient } from '../../typescript/client.ts';
import type { InvocationOf } from '../invocation.ts';
import type { Report } from '../report.ts';
import type { RunVerification } from '../../typescript/verify-run.ts';

/** `cancel`: asks a run to stop; with `--wait` it has stopped when this comes back. */
export async function cancel(client: TidemarkClient, { args, values }: InvocationOf<'cancel'>): Promise<Report> {
  const runId = args[0] ?? '';
  const asked = await client.runs.cancel(runId);
  const run = values.wait === true ? await client.runs.wait(runId) : asked;
  const state = run.settled_at === null ? 'cancelling' : `${run.status} (${run.stop_reason ?? 'finished'})`;
  return { document: { run }, lines: [`${run.run_id} ${state}`] };
}

const VERDICTS: Readonly<Record<RunVerification['why'], string>> = {
  proven: 'proven: what this client holds is all that the run said',
  not_complete: 'not complete: there is no completion record yet',
  digest_differs: 'NOT TRUE: the events differ from the completion record',
  frames_differ: 'NOT TRUE: the frames behind the events differ from the completion record',
  events_removed: 'nothing can be said: the events were removed by retention',
};

/** `verify`: exit code 0 only for what is proven. */
export async function verify(client: TidemarkClient, { args }: InvocationOf<'verify'>): Promise<Report> {
  const verification = await client.runs.verify(args[0] ?? '');
  const { runId, why, recorded, computed } = verification;
  return {
    document: { verification },
    lines: [
      `${runId} ${VERDICTS[why]}`,
      `  computed here  ${computed.digest}  ${String(computed.events)} events`,
      ...(recorded === null ? [] : [`  recorded       ${recorded.digest}  ${String(recorded.events)} events`]),
    ],
    exitCode: why === 'proven' ? 0 : 1,
  };
}
