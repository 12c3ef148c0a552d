import type { Queryable } from './transaction.ts';

/** What the hooks said about a call: the reason of their veto, or null where they allowed it. */
export interface ToolVerdict {
  readonly stepIndex: number;
  /** About the approver's arguments, not the model's. */
  readonly edited: boolean;
  readonly reason: string | null;
}

/** Keeps verdicts. **Contract:** the first about a call's arguments holds; a later one changes nothing. */
export async function insertVerdicts(
  client: Queryable,
  runId: string,
  verdicts: readonly ToolVerdict[],
): Promise<void> {
  if (verdicts.length === 0) return;
  await client.query({
    name: 'verdict-insert',
    text: `insert into tool_verdict (run_id, step_index, edited, reason)
           select $1, * from unnest($2::integer[], $3::boolean[], $4::text[])
           on conflict do nothing`,
    values: [
      runId,
      verdicts.map(({ stepIndex }) => stepIndex),
      verdicts.map(({ edited }) => edited),
      verdicts.map(({ reason }) => reason),
    ],
  });
}

/** The verdicts about a model step's calls. */
export async function verdictsOf(
  db: Queryable,
  step: { readonly runId: string; readonly first: number; readonly last: number },
): Promise<ToolVerdict[]> {
  const { rows } = await db.query<{ step_index: number; edited: boolean; reason: string | null }>({
    name: 'verdict-of-step',
    text: 'select step_index, edited, reason from tool_verdict where run_id = $1 and step_index between $2 and $3',
    values: [step.runId, step.first, step.last],
  });
  return rows.map(({ step_index: stepIndex, edited, reason }) => ({ stepIndex, edited, reason }));
}
