import { z } from 'zod';
import { delegateTool } from './tool.ts';

/** Ordinary words: a name is shown in every stream and stands in the database, which takes no NUL. */
const isPlain = (text: string): boolean => !/[\p{Cc}\p{Cs}]/u.test(text);

export const delegate = delegateTool({
  name: 'delegate',
  label: 'Delegate',
  description:
    'Gives a task to a sub-agent and waits for its result. It works in the same workspace and sees nothing of this conversation, ' +
    'so the task must say all that it has to know. Call it several times in one message to have the tasks done side by side.',
  schema: z.strictObject({
    task: z
      .string()
      .min(1)
      .max(50_000)
      .describe('What is to be done, with all that must be known, and what to report.'),
    name: z
      .string()
      .min(1)
      .max(100)
      .refine(isPlain, 'may hold no control characters')
      .optional()
      .describe('What to call the sub-agent, for the people who watch.'),
    tools: z
      .array(z.string().min(1).max(200))
      .max(100)
      .optional()
      .describe('The tools it may use; all of yours but this one when left out.'),
    model: z
      .string()
      .min(1)
      .max(200)
      .refine((name) => /^[\x21-\x7e]+$/.test(name), 'takes visible ASCII characters')
      .optional()
      .describe('Its model as provider/model; your own when left out.'),
  }),
  approval: 'never',
  repeatable: true,
  parallelSafe: true,
  describe: ({ task, name }) => (name === undefined ? `Delegate: ${task}` : `Delegate to ${name}: ${task}`),
  delegation: (args) => args,
});
