import { resolve } from 'node:path';
import { afterEach, expect, vi } from 'vitest';
import type { z } from 'zod';
import { textOf } from '../../../../contract/agent-messages.ts';
import { createLogger } from '../../../../infra/log.ts';
import { McpServerSettings } from '../../../../infra/mcp-settings.ts';
import { toolContext } from '../tools/tool-testkit.ts';
import type { ToolContext, ToolOutcome } from '../tools/tool.ts';
import { McpTools } from './mcp-tools.ts';

type Given = z.input<typeof McpServerSettings>;

/** Longer than anything takes on a busy machine. */
const WITHIN_MS = 60_000;

const opened: McpTools[] = [];

/** Servers of a test, closed after it. */
export async function mcpTools(servers: Readonly<Record<string, Given>>): Promise<McpTools> {
  const entries = Object.entries(servers).map(([name, given]) => [name, McpServerSettings.parse(given)] as const);
  const tools = await McpTools.of({ servers: new Map(entries), log: createLogger({ logLevel: 'silent' }, 'test') });
  opened.push(tools);
  tools.start();
  return tools;
}

afterEach(async () => {
  await Promise.all(opened.splice(0).map(async (tools) => await tools.close()));
});

/** Servers of a test, once it is known of each whether it is there. */
export async function settledTools(servers: Readonly<Record<string, Given>>): Promise<McpTools> {
  const tools = await mcpTools(servers);
  await tools.settled(WITHIN_MS);
  return tools;
}

/** The command of a fixture server. */
export function fixture(name: 'stdio' | 'hostile', ...args: string[]): string[] {
  return [process.execPath, resolve(`tests/fixtures/mcp/${name}-main.ts`), ...args];
}

/** Calls a tool by the name that a model calls it. */
export async function call(
  tools: McpTools,
  name: string,
  { args = {}, ...given }: { args?: object } & Partial<ToolContext> & { said?: string[] } = {},
): Promise<ToolOutcome & { readonly text: string }> {
  const tool = tools.get(name);
  if (tool === undefined) throw new Error(`there is no tool ${name}: ${String(tools.absence(name))}`);
  const outcome = await tool.execute(args, toolContext(given));
  return { ...outcome, text: textOf(outcome.content) };
}

export function namesOf(tools: McpTools): string[] {
  return Array.from(tools.values(), ({ name }) => name);
}

export async function eventually(check: () => void | Promise<void>): Promise<void> {
  await vi.waitFor(check, { timeout: WITHIN_MS, interval: 25 });
}

export async function becomesAvailable(tools: McpTools, name: string): Promise<void> {
  await eventually(() => expect(namesOf(tools)).toContain(name));
}
