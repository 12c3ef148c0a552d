import { hash } from 'node:crypto';
import { canonicalJson } from '../../contract/canonical-json.ts';
import type { InterruptKind } from '../../contract/decision.ts';
import type { FormField } from '../../contract/form.ts';
import { previewInput, type PlatformFrame } from '../../contract/platform-frames.ts';
import { speakerOfStep } from '../../contract/sub-agent.ts';
import type { RunRow } from './run.ts';
import type { Queryable } from './transaction.ts';

export interface InterruptRequest {
  readonly stepIndex: number;
  /** Which of the step's questions it is; left out where a step has one. */
  readonly askKey?: string;
  readonly kind: InterruptKind;
  readonly toolCallId: string;
  readonly toolName: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** The tool's JSON Schema, as text: what edited arguments must fit; null when there is none. */
  readonly schema: string | null;
  readonly prompt: string;
  readonly options: readonly string[];
  /** The fields of a question; left out where it asks for one text. */
  readonly fields?: readonly FormField[];
}

/** The digest that binds an answer to the arguments it was given for: SHA-256 of their canonical JSON. */
export function digestArguments(args: Readonly<Record<string, unknown>>): string {
  return hash('sha256', canonicalJson(args));
}

/** Adds an open interrupt, in the transaction of the frame that tells of it. */
export async function insertInterrupt(
  client: Queryable,
  run: RunRow,
  request: InterruptRequest & { readonly interruptId: string },
): Promise<void> {
  await client.query({
    name: 'interrupt-insert',
    text: `insert into interrupt (interrupt_id, tenant_id, thread_id, run_id, step_index, ask_key, kind, tool_call_id,
                                  tool_name, arguments, args_digest, schema, prompt, options, form, status, deadline_at)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, 'pending',
                   now() + make_interval(secs => $16))`,
    values: [
      request.interruptId,
      run.tenant_id,
      run.thread_id,
      run.run_id,
      request.stepIndex,
      request.askKey ?? '',
      request.kind,
      request.toolCallId,
      request.toolName,
      JSON.stringify(request.arguments),
      digestArguments(request.arguments),
      request.schema,
      request.prompt,
      JSON.stringify(request.options),
      request.fields === undefined ? null : JSON.stringify(request.fields),
      run.settings.interrupt_timeout_seconds ?? null,
    ],
  });
}

/** What the stream says of an interrupt that was just asked. */
export function requestedFrame(
  runId: string,
  request: InterruptRequest & { readonly interruptId: string },
): PlatformFrame {
  const { interruptId, kind, prompt, options, fields, toolCallId, toolName, stepIndex } = request;
  const speaker = speakerOfStep(runId, stepIndex);
  return {
    type: 'interrupt.requested',
    interruptId,
    kind,
    prompt,
    options: [...options],
    ...(fields === undefined ? {} : { fields: [...fields] }),
    toolCallId,
    toolName,
    input: previewInput(request.arguments),
    ...(speaker === null ? {} : { speaker }),
  };
}
