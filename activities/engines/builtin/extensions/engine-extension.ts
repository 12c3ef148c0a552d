import type { Extension } from '../../../../contract/extensions/extension.ts';
import type { ExtensionRegistry } from '../../../../contract/extensions/registry.ts';
import type { NotedError } from './error-ring.ts';

interface EngineParts {
  readonly registry: ExtensionRegistry;
  readonly errors: () => readonly NotedError[];
  readonly toolNames: () => readonly string[];
  /** MCP servers that are away, and why. */
  readonly outages: () => readonly unknown[];
  readonly reload: () => Promise<void>;
  readonly cancel: (runId: string) => Promise<void>;
}

/** The engine's own commands, controls and diagnostics, registered as any extension's are. */
export function engineExtension({ registry, errors, toolNames, outages, reload, cancel }: EngineParts): Extension {
  return (api) => {
    api.register('command', {
      name: 'help',
      description: 'Lists the commands.',
      order: 0,
      handler: () =>
        registry
          .list('command')
          .map(({ record: { name, description = '', order = 100 } }) => ({ name, description, order }))
          .toSorted((a, b) => a.order - b.order || (a.name < b.name ? -1 : 1))
          .map(({ name, description }) => ({ name, description })),
    });
    api.register('command', {
      name: 'compact',
      description: 'Sums the conversation up, so that it takes less of the context; arguments say what to keep.',
      order: 10,
      idleOnly: true,
      handler: async (guidance, caller) => {
        const compact = guidance.trim() === '' ? {} : { guidance: guidance.trim() };
        return await caller.submit('/compact', { whenBusy: 'reject', settings: { compact } });
      },
    });
    api.register('command', {
      name: 'new',
      description: 'Leaves this conversation for a new one.',
      order: 20,
      handler: () => api.emit({ type: 'reset-conversation' }),
    });
    api.register('command', {
      name: 'reload',
      description: 'Loads the extensions that have changed anew, in every worker.',
      order: 90,
      handler: async () => {
        await reload();
        api.emit({ type: 'reinit-presenter' });
      },
    });
    api.register('control', {
      name: 'cancel',
      description: 'Stops the run that has the turn.',
      handler: async ({ agent, isBusy }) => {
        if (agent === null || !isBusy) return { cancelled: false };
        await cancel(agent.runId);
        return { cancelled: true, runId: agent.runId };
      },
    });
    api.register('status', { name: 'model', order: 0, render: ({ agent }) => agent?.model });
    api.register('introspect', {
      name: 'engine',
      description: 'The tools that runs can call, the MCP servers that are away, and the newest errors of extensions.',
      snapshot: () => ({ tools: toolNames(), outages: outages(), errors: errors() }),
    });
  };
}
