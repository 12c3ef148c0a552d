import type { Tool } from '../../contract/agent-messages.ts';
import type { RunSettings } from '../../infra/postgres/run.ts';
import type { Tools } from '../engines/builtin/tools/tool.ts';

/** Whether a run's settings let it use a tool: what is denied is not, and where some are named, no other is. */
export function isToolAllowed(name: string, { allowed_tools: allowed, denied_tools: denied }: RunSettings): boolean {
  if (denied?.includes(name) === true) return false;
  return allowed === undefined || allowed.includes(name);
}

/** What a model is told of the tools that a run may use. */
export function toolsFor(tools: Tools, settings: RunSettings): Tool[] {
  return Array.from(tools.values())
    .filter(({ name }) => isToolAllowed(name, settings))
    .map(({ name, description, parameters }) => ({ name, description, parameters }));
}
