import type { Config } from '../infra/config.ts';
import type { Pool } from '../infra/postgres/pool.ts';
import { interruptsOfRun, type InterruptRow } from '../infra/postgres/interrupt.ts';
import { countWaiting, type QueuedInputRow } from '../infra/postgres/queued-input.ts';
import type { RunRow } from '../infra/postgres/run.ts';
import type { RunUsage } from '../infra/postgres/run-usage.ts';

/** A run as REST shows it. Times are ISO 8601; `input` is what was posted. */
export async function viewRun(
  pool: Pool,
  config: Pick<Config, 'temporalUiUrl' | 'temporal'>,
  run: RunRow,
): Promise<Record<string, unknown>> {
  const interrupts = run.settled_at === null ? await interruptsOfRun(pool, run.run_id) : [];
  const waiting = run.settled_at === null ? await countWaiting(pool, run.run_id) : 0;
  return {
    run_id: run.run_id,
    thread_id: run.thread_id,
    parent_run_id: run.parent_run_id,
    engine: run.engine,
    model: run.model,
    status: run.status,
    stop_reason: run.stop_reason,
    error: run.error,
    cancelling: run.cancel_requested_at !== null && run.settled_at === null,
    canonical_state: run.canonical_state,
    pending_interrupts: interrupts.filter(({ status }) => status === 'pending').map(viewInterrupt),
    queued_inputs: waiting,
    usage: run.usage === null ? null : viewUsage(run.usage),
    cost_usd: run.usage?.costUsd ?? null,
    input: JSON.parse(run.input) as string,
    settings: run.settings,
    metadata: run.metadata,
    temporal_ui_url: temporalUiUrl(config, run.run_id),
    created_at: run.created_at.toISOString(),
    started_at: run.started_at?.toISOString() ?? null,
    settled_at: run.settled_at?.toISOString() ?? null,
  };
}

/** An input that a run was given while it worked, as REST shows it. */
export function viewInput(input: QueuedInputRow): Record<string, unknown> {
  return {
    input_id: input.input_id,
    run_id: input.run_id,
    thread_id: input.thread_id,
    queue: input.queue,
    state: input.state,
    text: JSON.parse(input.text) as string,
    step_index: input.step_index,
    drop_reason: input.drop_reason,
    created_at: input.created_at.toISOString(),
    injected_at: input.injected_at?.toISOString() ?? null,
    dropped_at: input.dropped_at?.toISOString() ?? null,
  };
}

function viewUsage({ inputTokens, outputTokens, cachedInputTokens }: RunUsage): Record<string, number | null> {
  return {
    input_tokens: inputTokens ?? null,
    output_tokens: outputTokens ?? null,
    cached_input_tokens: cachedInputTokens ?? null,
  };
}

/** An interrupt as REST shows it: what is asked, for which call, and how it was answered. */
export function viewInterrupt(interrupt: InterruptRow): Record<string, unknown> {
  return {
    interrupt_id: interrupt.interrupt_id,
    run_id: interrupt.run_id,
    thread_id: interrupt.thread_id,
    kind: interrupt.kind,
    status: interrupt.status,
    prompt: interrupt.prompt,
    options: interrupt.options,
    form: interrupt.form,
    tool_call_id: interrupt.tool_call_id,
    tool_name: interrupt.tool_name,
    arguments: JSON.parse(interrupt.arguments) as unknown,
    schema: interrupt.schema === null ? null : (JSON.parse(interrupt.schema) as unknown),
    decision: interrupt.decision === null ? null : (JSON.parse(interrupt.decision) as unknown),
    actor: interrupt.actor,
    created_at: interrupt.created_at.toISOString(),
    deadline_at: interrupt.deadline_at?.toISOString() ?? null,
    resolved_at: interrupt.resolved_at?.toISOString() ?? null,
  };
}

function temporalUiUrl(config: Pick<Config, 'temporalUiUrl' | 'temporal'>, runId: string): string | null {
  if (config.temporalUiUrl === undefined) return null;
  const base = config.temporalUiUrl.replace(/\/+$/, '');
  return `${base}/namespaces/${encodeURIComponent(config.temporal.namespace)}/workflows/${runId}`;
}
