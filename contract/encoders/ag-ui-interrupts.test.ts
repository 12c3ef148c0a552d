import { expect, it } from 'vitest';
import type { ApprovalDecision, LifecycleData } from '../lifecycle.ts';
import { agUiInterrupts } from './ag-ui-interrupts.ts';

type Asked = LifecycleData<'interrupt.requested'>;

function approvals(...calls: readonly (readonly [string, readonly ApprovalDecision[]])[]): Asked {
  return {
    ...{ interrupt_id: 'int_1', interrupt_type: 'tool_approval', agent_id: 'ada' },
    tool_approvals: calls.map(([tool_call_id, allowed]) => {
      return { tool_call_id, tool_name: 'run', tool_args: {}, allowed_decisions: [...allowed] };
    }),
  };
}

it('is one interrupt for each call, each with an id of its own', () => {
  const one = agUiInterrupts(approvals(['a', ['approve']]), 'Ada');
  expect(one.map(({ id, toolCallId }) => [id, toolCallId])).toEqual([['int_1', 'a']]);
  const two = agUiInterrupts(approvals(['a', ['approve']], ['b', ['approve']]), 'Ada');
  expect(two.map(({ id, toolCallId }) => [id, toolCallId])).toEqual([
    ['int_1:a', 'a'],
    ['int_1:b', 'b'],
  ]);
});

it('offers an edit only where one is allowed', () => {
  const interrupts = agUiInterrupts(approvals(['a', ['approve', 'reject']], ['b', ['edit', 'reject']]), 'Ada');
  const offered = interrupts.map(({ responseSchema }) => Object.keys(responseSchema?.['properties'] as object));
  expect(offered).toEqual([
    ['approved', 'message'],
    ['approved', 'editedArgs', 'message'],
  ]);
});

it('asks for a form by its fields', () => {
  const [form] = agUiInterrupts(
    {
      ...{ interrupt_id: 'int_1', interrupt_type: 'form_input', agent_id: 'ada', prompt: 'Where?' },
      fields: [
        { field_name: 'url', field_type: 'url', required: true },
        { field_name: 'tags', field_type: 'multiselect', required: false, field_values: ['a', 'b'] },
      ],
    },
    'Ada',
  );
  expect(form).toMatchObject({
    ...{ id: 'int_1', reason: 'input_required', message: 'Where?' },
    responseSchema: {
      required: ['url'],
      properties: {
        url: { type: 'string', format: 'uri' },
        tags: { type: 'array', items: { type: 'string', enum: ['a', 'b'] } },
      },
    },
  });
});
