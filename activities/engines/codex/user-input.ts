import { z } from 'zod';
import type { FormField } from '../../../contract/form.ts';
import { previewText } from '../../../contract/frames.ts';
import { ElicitationRequest, elicitationResponse, fieldsOf } from '../wire/elicitation.ts';
import type { EngineAnswer, EngineQuestion } from '../driver.ts';
import type { McpServerElicitationRequestResponse, ToolRequestUserInputResponse } from './app-server-types.ts';

const PROMPT_CHARS = 9_000;
const LABEL_CHARS = 900;
const DESCRIPTION_CHARS = 3_900;

const Question = z.object({
  id: z.string().min(1).max(200),
  header: z.string().catch(''),
  question: z.string().catch(''),
  isOther: z.boolean().catch(false),
  options: z
    .array(z.object({ label: z.string(), description: z.string().nullish().catch(null) }))
    .nullish()
    .catch(null),
});
export const UserInputRequest = z.object({ itemId: z.string().min(1), questions: z.array(Question).min(1) });
export const ServerElicitation = z.object({
  serverName: z.string().catch('MCP server'),
  message: z.string().catch(''),
  url: z.string().nullish().catch(null),
});

interface Request {
  readonly nativeId: string;
  readonly method: string;
  readonly params: unknown;
}

export interface AskedQuestion {
  readonly question: EngineQuestion;
  resultOf(answer: EngineAnswer): ToolRequestUserInputResponse | McpServerElicitationRequestResponse;
}

/** What the model, or an MCP server, asks of a person; null for a request that is no question. */
export function questionOf(request: Request): AskedQuestion | null {
  if (request.method === 'item/tool/requestUserInput') return userInput(request);
  return request.method === 'mcpServer/elicitation/request' ? elicitation(request) : null;
}

function userInput({ nativeId, params }: Request): AskedQuestion | null {
  const parsed = UserInputRequest.safeParse(params);
  if (!parsed.success) return null;
  const { itemId, questions } = parsed.data;
  const question: EngineQuestion = {
    kind: 'question',
    nativeId,
    toolCallId: itemId,
    toolName: 'request_user_input',
    prompt: previewText(questions.map(({ question: text }) => text).join('\n'), PROMPT_CHARS),
    fields: questions.map(fieldOf),
  };
  return { question, resultOf: (answer) => ({ answers: answersOf(answer) }) };
}

/** Nobody's answer is no answer at all: the model goes on without one. */
function answersOf(answer: EngineAnswer): ToolRequestUserInputResponse['answers'] {
  if (answer.status !== 'answered') return {};
  const entries = Object.entries(answer.values).map(([id, value]) => {
    const answers = Array.isArray(value) ? value : [String(value)];
    return [id, { answers }] as const;
  });
  return Object.fromEntries(entries);
}

function fieldOf({ id: name, header, question, isOther, options }: z.infer<typeof Question>): FormField {
  const offered = options ?? [];
  return {
    name,
    prompt: previewText([header, question].filter((text) => text !== '').join(': '), PROMPT_CHARS),
    type: offered.length > 0 ? 'choice' : 'text',
    options: offered.map(({ label, description }) => ({
      label: previewText(label, LABEL_CHARS),
      ...(description == null ? {} : { description: previewText(description, DESCRIPTION_CHARS) }),
    })),
    multiple: false,
    custom: isOther || offered.length === 0,
    required: true,
  };
}

function elicitation({ nativeId, params }: Request): AskedQuestion | null {
  const server = ServerElicitation.safeParse(params);
  const form = ElicitationRequest.safeParse(params);
  if (!server.success || !form.success) return null;
  const { serverName, message, url } = server.data;
  const question: EngineQuestion = {
    kind: 'question',
    nativeId,
    toolCallId: null,
    toolName: serverName,
    prompt: previewText(url == null ? message : `${message}\n${url}`, PROMPT_CHARS),
    fields: fieldsOf(form.data),
  };
  return {
    question,
    resultOf: (answer) => ({ content: null, _meta: null, ...elicitationResponse(form.data, answer) }),
  };
}
