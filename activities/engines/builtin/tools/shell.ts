import { stat } from 'node:fs/promises';
import { z } from 'zod';
import { commandReport } from './command-report.ts';
import { runCommand } from './run-command.ts';
import { executableTool, ToolFault } from './tool.ts';
import { fileFault, placeInWorkspace, quoted } from './workspace-path.ts';

export const shell = executableTool({
  name: 'shell',
  label: 'Run command',
  description:
    'Runs a command with /bin/sh in the workspace and returns its exit code and what it printed. It gets no input. What it leaves running is ended with it. A person approves each call.',
  schema: z.strictObject({
    command: z.string().min(1).max(32_000).describe('One or more lines for /bin/sh.'),
    cwd: z.string().max(1_024).optional().describe('A folder relative to the workspace, in which it runs.'),
    timeout_seconds: z
      .int()
      .positive()
      .optional()
      .describe('It is stopped after this time; 120 when left out, at most 600.'),
  }),
  approval: 'always',
  repeatable: false,
  parallelSafe: false,
  describe: ({ command, cwd }) => `Run${cwd === undefined ? '' : ` in ${quoted(cwd)}`}: ${command}`,
  async execute({ command, cwd = '.', timeout_seconds: seconds }, context) {
    const { limits, workspace } = context;
    if (command.includes('\0')) throw new ToolFault('the command holds a NUL character; leave it out');
    const timeoutMs = seconds === undefined ? limits.shellTimeoutMs : seconds * 1_000;
    if (timeoutMs > limits.shellMaxTimeoutMs) {
      const most = String(limits.shellMaxTimeoutMs / 1_000);
      throw new ToolFault(`timeout_seconds may be at most ${most}; split the work into several commands`);
    }
    const folder = await folderOf(workspace, cwd);
    const end = await runCommand({ command, folder, timeoutMs }, context);
    return commandReport(end, limits);
  },
});

async function folderOf(workspace: string, cwd: string): Promise<string> {
  const { place, shown } = await placeInWorkspace(workspace, cwd);
  const found = await stat(place).catch((error: unknown) => {
    throw fileFault(error, shown);
  });
  if (!found.isDirectory()) throw new ToolFault(`${quoted(shown)} is no folder; name one as cwd`);
  return place;
}
