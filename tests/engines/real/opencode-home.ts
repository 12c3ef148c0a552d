import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promptOf, type EngineTools, type ToolUse } from './scripted-model.ts';

const bash = (command: string): ToolUse => ({
  name: 'bash',
  arguments: { command, description: 'A scripted command' },
});

/** What the scripted model makes OpenCode do. */
export const OPENCODE_TOOLS: EngineTools = {
  print: bash('echo from-the-shell'),
  make: bash('touch made.txt'),
  linger: bash('sleep 30'),
  write: { name: 'write', arguments: { filePath: 'note.txt', content: 'written by the agent\n' } },
  plan: {
    name: 'todowrite',
    arguments: { todos: [{ content: 'Look at the file', status: 'in_progress', priority: 'high' }] },
  },
  question: {
    name: 'question',
    arguments: {
      questions: [
        {
          header: 'Colour',
          question: 'Which colour?',
          options: [
            { label: 'Red', description: 'warm' },
            { label: 'Blue', description: 'cold' },
          ],
        },
      ],
    },
  },
  child: {
    name: 'task',
    arguments: { description: 'Look around', prompt: promptOf('text'), subagent_type: 'general' },
  },
};

/** Writes a home for OpenCode in an empty folder; gives the environment in which it reads and writes nothing outside of it. */
export async function writeOpencodeHome({ folder, modelUrl }: { folder: string; modelUrl: string }) {
  const file = join(folder, 'opencode.json');
  await writeFile(file, JSON.stringify(configOf(modelUrl)));
  const xdg = Object.fromEntries(
    ['CONFIG', 'DATA', 'STATE', 'CACHE'].map((name) => [`XDG_${name}_HOME`, join(folder, name.toLowerCase())]),
  );
  await Promise.all(Object.values(xdg).map((path) => mkdir(path)));
  return { HOME: folder, ...xdg, OPENCODE_CONFIG: file, OPENCODE_DISABLE_MODELS_FETCH: '1' };
}

/** Its configuration: the scripted server as its only provider, and what needs a person. */
function configOf(modelUrl: string) {
  return {
    autoupdate: false,
    share: 'disabled',
    model: 'local/scripted',
    small_model: 'local/scripted',
    enabled_providers: ['local'],
    provider: {
      local: {
        npm: '@ai-sdk/openai-compatible',
        name: 'Local',
        options: { baseURL: `${modelUrl}/v1`, apiKey: 'dummy' },
        models: { scripted: { name: 'Scripted', tool_call: true, limit: { context: 128_000, output: 8_192 } } },
      },
    },
    permission: { bash: { '*': 'allow', 'touch *': 'ask' }, edit: 'allow' },
  };
}
