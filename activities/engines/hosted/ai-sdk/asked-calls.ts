import { parseJsonObject } from '../../../../contract/json-object.ts';
import { previewText } from '../../../../contract/frames.ts';
import type { FormField, FormValues } from '../../../../contract/form.ts';
import type { EngineAnswer } from '../../driver.ts';
import type { HostQuestion } from '../host-protocol.ts';
import { ANSWER, questionWords } from '../question-words.ts';
import { ElicitationRequest, elicitationResponse, fieldsOf } from '../../wire/elicitation.ts';
import type { ContentPart, ModelMessage } from './agent-shape.ts';
import type { AskedCall } from './streamed-step.ts';

const PROMPT_CHARS = 2_000;
const UNANSWERED = 'nobody answered in time';
const DISMISSED = 'The person has not answered.';

/** JSON Schema of what a tool that nothing runs is to come to; null where it has none. */
export type OutputSchemas = Readonly<Record<string, object | null>>;

/** An open call as a person is asked about it: whether it may run, or, where nothing runs it, what its result is. */
export function questionOf(call: AskedCall, schemas: OutputSchemas): HostQuestion {
  const { toolCallId, toolName, input } = call;
  if (call.type === 'approval') {
    const args = parseJsonObject(JSON.stringify(input)) ?? { input };
    const prompt = previewText(`${toolName}: ${JSON.stringify(input)}`, PROMPT_CHARS);
    const nativeId = call.approvalId ?? toolCallId;
    return {
      kind: 'approval',
      nativeId,
      toolCallId,
      toolName,
      arguments: args,
      prompt,
      options: ['approve', 'reject'],
      schema: null,
    };
  }
  const { prompt, fields } = questionWords(input);
  const form = formOf(schemas[toolName]);
  const asked: FormField[] = form === null ? [...fields] : fieldsOf(form);
  return { kind: 'question', nativeId: toolCallId, toolCallId, toolName, prompt, fields: asked };
}

/** The answers, one for each call, as the message that the agent takes them by. */
export function answerMessage(
  calls: readonly AskedCall[],
  answers: readonly EngineAnswer[],
  schemas: OutputSchemas,
): ModelMessage {
  const content = calls.map((call, i): ContentPart => {
    const answer = answers[i] ?? { status: 'expired' };
    return call.type === 'approval' ? approval(call, answer) : result(call, answer, schemas[call.toolName]);
  });
  return { role: 'tool', content };
}

function approval({ approvalId }: AskedCall, answer: EngineAnswer): ContentPart {
  const said = { type: 'tool-approval-response', approvalId };
  if (answer.status === 'approved') return { ...said, approved: true };
  const reason = answer.status === 'rejected' ? answer.message : UNANSWERED;
  return { ...said, approved: false, ...(reason === null ? {} : { reason }) };
}

function result(
  { toolCallId, toolName }: AskedCall,
  answer: EngineAnswer,
  schema: OutputSchemas[string] = null,
): ContentPart {
  const said = { type: 'tool-result', toolCallId, toolName };
  const form = formOf(schema);
  const filled = form === null ? null : elicitationResponse(form, answer);
  if (filled?.action === 'accept') return { ...said, output: { type: 'json', value: filled.content } };
  if (filled === null && answer.status === 'answered') return { ...said, output: outputOf(answer.values) };
  return { ...said, output: { type: 'error-text', value: DISMISSED } };
}

function outputOf(values: FormValues): ContentPart {
  const answer = values[ANSWER];
  return typeof answer === 'string' ? { type: 'text', value: answer } : { type: 'json', value: answer ?? values };
}

/** The form that a schema of an object's fields is; null for any other. */
function formOf(schema: OutputSchemas[string] = null): ElicitationRequest | null {
  if (schema === null || !('properties' in schema)) return null;
  return ElicitationRequest.safeParse({ requestedSchema: schema }).data ?? null;
}
