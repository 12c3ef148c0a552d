import type { PiApi } from './pi-api.ts';
import { QUESTION_TITLE, QUESTION_TOOL, type QuestionRequest } from './protocol.ts';

type Option = QuestionRequest['options'][number];

const PARAMETERS = {
  type: 'object',
  required: ['question'],
  properties: {
    question: { type: 'string', description: 'The question, in one or two sentences' },
    options: {
      type: 'array',
      description: 'Answers to choose from; the user may give another one. Leave it out for a free answer.',
      items: {
        type: 'object',
        required: ['label'],
        properties: { label: { type: 'string' }, description: { type: 'string' } },
      },
    },
  },
};

/** Gives the model a tool by which it asks the user; pi has none. A question that nobody answers is an answer too. */
export function offerQuestions(pi: PiApi): void {
  pi.registerTool({
    name: QUESTION_TOOL,
    label: 'Ask the user',
    description: 'Asks the user one question and waits for the answer. For what only the user can decide or know.',
    promptSnippet: 'Ask the user a question and wait for the answer',
    parameters: PARAMETERS,
    async execute(toolCallId, { question, options }, signal, _onUpdate, ctx) {
      const request: QuestionRequest = { toolCallId, question: String(question), options: (options ?? []) as Option[] };
      const answer = await ctx.ui.input(QUESTION_TITLE, JSON.stringify(request), signal ? { signal } : {});
      const text = answer === undefined ? 'The user gave no answer.' : `The user answered: ${answer}`;
      return { content: [{ type: 'text', text }], details: undefined };
    },
  });
}
