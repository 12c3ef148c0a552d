import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { env } from 'node:process';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { stepCountIs, tool, ToolLoopAgent } from 'ai';
import { z } from 'zod';
import type { HostedAgentContext } from '../../activities/engines/hosted/agent-context.ts';

const Name = z.string().regex(/^[a-z0-9-]{1,40}$/);

/**
 * An agent of the AI SDK that keeps notes as files of its workspace. It reads them as it likes, writes one when a person has approved
 * it, and asks where it does not know enough: `ask_user` has no `execute`, so a person's answer is what comes of it.
 */
export default function notesAgent({ model, workspace }: HostedAgentContext) {
  const { OPENAI_BASE_URL: baseURL = 'https://api.openai.com/v1', OPENAI_API_KEY: apiKey = '' } = env;
  const provider = createOpenAICompatible({ name: 'openai', baseURL, apiKey, includeUsage: true });
  const pathOf = (name: string): string => join(workspace, `${name}.md`);
  return new ToolLoopAgent({
    model: provider(model ?? 'gpt-5-mini'),
    instructions: 'You keep notes for a person. Ask when you do not know what a note is to say.',
    stopWhen: stepCountIs(20),
    tools: {
      read_note: tool({
        description: 'Reads a note.',
        inputSchema: z.object({ name: Name }),
        execute: async ({ name }) => await readFile(pathOf(name), 'utf8'),
      }),
      write_note: tool({
        description: 'Writes a note.',
        inputSchema: z.object({ name: Name, text: z.string() }),
        needsApproval: true,
        execute: async ({ name, text }) => {
          await writeFile(pathOf(name), text);
          return `${name} is written.`;
        },
      }),
      ask_user: tool({
        description: 'Asks the person.',
        inputSchema: z.object({ question: z.string() }),
        outputSchema: z.object({ answer: z.string() }),
      }),
    },
  });
}
