import { defineSearchAttributeKey, SearchAttributeType, type TypedSearchAttributes } from '@temporalio/common';
import { setCurrentDetails, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import { SEARCH_ATTRIBUTE, SIGNAL } from '../contract/messages.ts';

const stateKey = defineSearchAttributeKey(SEARCH_ATTRIBUTE.state, SearchAttributeType.KEYWORD);

/** So many open interrupts are listed: the UI puts the text into an address. */
const SHOWN = 10;

export type ShownState = 'queued' | 'running' | 'waiting' | 'completed' | 'failed';

/** Shows in the Temporal UI where the run stands: the state as a search attribute, and a sentence as current details. */
export function showState(state: ShownState, details: string): void {
  upsertSearchAttributes([{ key: stateKey, value: state }]);
  setCurrentDetails(details);
}

/** The attributes of a sub-agent's workflow: its run's, so that it is found where the run is. */
export function childAttributes(): TypedSearchAttributes {
  const { typedSearchAttributes } = workflowInfo();
  return typedSearchAttributes.updateCopy([{ key: stateKey, value: 'running' }]);
}

/** What a parked run waits for, and how to answer from here (shown as Markdown). */
export function howToAnswer(pending: readonly string[]): string {
  const { workflowId } = workflowInfo();
  const [first] = pending;
  return [
    `**Waits for a person**: ${String(pending.length)} open interrupt(s).`,
    ...pending.slice(0, SHOWN).map((id) => `- \`${id}\``),
    ...(pending.length > SHOWN ? [`- and ${String(pending.length - SHOWN)} more: GET /v1/interrupts`] : []),
    '',
    'See it: `GET /v1/interrupts/<id>`. Answer by `POST /v1/interrupts/<id>/resolve`, or with the Temporal CLI:',
    '```',
    `temporal workflow signal --workflow-id ${workflowId} --name ${SIGNAL.resolveInterrupt} \\`,
    `  --input '{"interrupt_id":"${first ?? ''}","decision":"approve"}'`,
    '```',
    'A question takes `"values":{"answer":"…"}` in place of `"decision"`.',
  ].join('\n');
}
