import { z } from 'zod';
import { questionTool } from './tool.ts';

export const askUser = questionTool({
  name: 'ask_user',
  label: 'Ask the user',
  description: 'Asks the user one question and waits for the answer. Use it when only the user can decide or knows.',
  schema: z.strictObject({
    prompt: z.string().min(1).max(4_000).describe('The question, with what the user must know to answer it.'),
    options: z
      .array(z.string().min(1).max(200))
      .max(10)
      .optional()
      .describe('Answers to choose from, if there are any.'),
  }),
  approval: 'never',
  repeatable: true,
  parallelSafe: false,
  describe: ({ prompt }) => `Ask: ${prompt}`,
  question: ({ prompt, options = [] }) => ({ prompt, options }),
});
