import type { FormField, FormInterrupt, LifecycleEventOf, ToolApproval } from '../lifecycle.ts';
import type { AgUiInterrupt } from './ag-ui-events.ts';

/**
 * The interrupts of one pause: a form is one; each call that waits for approval is one, since a client answers by interrupt.
 * The answer's shape is AG-UI's own (`{approved, editedArgs?}`, `editedArgs` only where an edit is allowed).
 */
export function agUiInterrupts(
  data: LifecycleEventOf<'interrupt.requested'>['data'],
  agentName: string,
): readonly AgUiInterrupt[] {
  const agent = { agentId: data.agent_id, agent: agentName };
  if (data.interrupt_type === 'form_input') {
    return [
      {
        id: data.interrupt_id,
        reason: 'input_required',
        message: data.prompt,
        responseSchema: formSchema(data),
        metadata: { ...agent, fields: data.fields },
      },
    ];
  }
  const { tool_approvals, interrupt_id } = data;
  return tool_approvals.map((approval) => ({
    id: agUiInterruptId(interrupt_id, approval.tool_call_id, tool_approvals.length),
    reason: 'tool_call',
    message: `May ${agentName} run ${approval.tool_name}?`,
    toolCallId: approval.tool_call_id,
    responseSchema: approvalSchema(approval),
    metadata: {
      ...agent,
      toolName: approval.tool_name,
      toolArgs: approval.tool_args,
      allowedDecisions: approval.allowed_decisions,
    },
  }));
}

/** The id that a client answers one approval of a pause by: the pause's own when it asks for one only. */
export function agUiInterruptId(interruptId: string, toolCallId: string, approvals: number): string {
  return approvals === 1 ? interruptId : `${interruptId}:${toolCallId}`;
}

function approvalSchema({ allowed_decisions }: ToolApproval) {
  const canEdit = allowed_decisions.includes('edit');
  const editedArgs = { type: 'object', description: 'Replaces the arguments of the call; not merged.' };
  const message = { type: 'string', description: 'Told to the agent when the call is not approved.' };
  return {
    type: 'object',
    properties: { approved: { type: 'boolean' }, ...(canEdit ? { editedArgs } : {}), message },
    required: ['approved'],
  };
}

function formSchema({ fields }: FormInterrupt) {
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map((field) => [field.field_name, fieldSchema(field)])),
    required: fields.filter(({ required }) => required).map(({ field_name }) => field_name),
  };
}

function fieldSchema({ field_type, field_label, field_description, field_values, default_value }: FormField) {
  return {
    ...valueSchema(field_type, field_values),
    ...(field_label === undefined ? {} : { title: field_label }),
    ...(field_description === undefined ? {} : { description: field_description }),
    ...(default_value === undefined ? {} : { default: default_value }),
  };
}

function valueSchema(type: FormField['field_type'], values: readonly string[] | undefined) {
  const choice = { type: 'string', ...(values === undefined ? {} : { enum: values }) };
  switch (type) {
    case 'text':
      return { type: 'string' };
    case 'url':
      return { type: 'string', format: 'uri' };
    case 'email':
      return { type: 'string', format: 'email' };
    case 'number':
    case 'boolean':
      return { type };
    case 'select':
      return choice;
    case 'multiselect':
      return { type: 'array', items: choice, uniqueItems: true };
  }
}
