import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { HostedAgentContext } from './agent-context.ts';
import { AgentRefusal, type UserModule } from './hosted-agent.ts';

/**
 * Imports a module and takes its default export, or what that makes when it is a function.
 *
 * @throws AgentRefusal when there is nothing to be had.
 */
export async function loadUserModule(path: string, context: HostedAgentContext): Promise<UserModule> {
  const { href } = pathToFileURL(resolve(path));
  const exported = await importDefault(href);
  const choosesModel = typeof exported === 'function';
  return {
    agent: choosesModel ? await make(exported as MakeAgent, context) : exported,
    choosesModel,
    importLibrary: (name) => importLibrary(name, href),
  };
}

type MakeAgent = (context: HostedAgentContext) => unknown;

async function importDefault(href: string): Promise<unknown> {
  let module: { readonly default?: unknown };
  try {
    module = (await import(href)) as { default?: unknown };
  } catch (error) {
    throw new AgentRefusal('its module cannot be loaded', reasonOf(error));
  }
  if (module.default !== undefined && module.default !== null) return module.default;
  throw new AgentRefusal('its module has no default export', 'write: export default agent');
}

async function make(makeAgent: MakeAgent, context: HostedAgentContext): Promise<unknown> {
  try {
    return await makeAgent(context);
  } catch (error) {
    throw new AgentRefusal('the function that its module exports has thrown', reasonOf(error));
  }
}

/** Needs `--experimental-import-meta-resolve`: the library must be the module's own copy, whose classes it knows. */
async function importLibrary(name: string, parent: string): Promise<unknown> {
  try {
    return (await import(import.meta.resolve(name, parent))) as unknown;
  } catch (error) {
    throw new AgentRefusal(`its module cannot import ${name}`, reasonOf(error));
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
