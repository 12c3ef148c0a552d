import { TidemarkError } from '../../../../contract/errors.ts';
import type { ExtensionCallKind } from '../../../../contract/extension-call.ts';
import type { CallerState, RegisterKind, RegisterRecords } from '../../../../contract/extensions/register-kinds.ts';
import type { ExtensionHost } from './host.ts';
import { firstLineOf } from '../../../../contract/extensions/event-bus.ts';

export interface Asked {
  readonly kind: ExtensionCallKind;
  /** Of the record; empty where all of a kind are asked. */
  readonly name: string;
  /** JSON text. */
  readonly arguments: string;
}

/** Asks the records that a call is for. What one of several throws is said as `extension-error` and leaves the others as they are. */
export async function askExtensions(host: ExtensionHost, asked: Asked, caller: CallerState): Promise<unknown> {
  const args: unknown = JSON.parse(asked.arguments);
  switch (asked.kind) {
    case 'command': {
      const command = one(host, 'command', asked.name);
      if (command.idleOnly === true && caller.isBusy) throw busy(asked.name);
      return await command.handler(String(args), caller);
    }
    case 'control':
      return await one(host, 'control', asked.name).handler(caller);
    case 'login':
      return await login(one(host, 'auth-backend', asked.name), args as Readonly<Record<string, unknown>>);
    case 'logout':
      return await logout(one(host, 'auth-backend', asked.name));
    case 'panels':
      return await allOf(host, 'panel', async (panel) => {
        if (panel.enabled !== undefined && !(await panel.enabled(caller))) return null;
        return { name: panel.name, title: panel.title ?? panel.name, rows: await panel.render(caller) };
      });
    case 'status': {
      const items = await allOf(host, 'status', async (status) => {
        const { name, order = 0 } = status;
        const text = await status.render(caller);
        return text === null || text === undefined || text === '' ? null : { name, order, text };
      });
      return items.toSorted((a, b) => a.order - b.order || (a.name < b.name ? -1 : 1));
    }
    case 'introspect':
      return await allOf(host, 'introspect', async (record, owner) => ({
        owner,
        name: record.name,
        description: record.description ?? null,
        snapshot: await record.snapshot(caller),
      }));
  }
}

async function allOf<Kind extends RegisterKind, Item extends object>(
  host: ExtensionHost,
  kind: Kind,
  ask: (record: RegisterRecords[Kind], owner: string) => Promise<Item | null>,
): Promise<Item[]> {
  const { registry, bus } = host.scope;
  const asked = registry.list(kind).map(async ({ owner, record }) => {
    try {
      return await ask(record, owner);
    } catch (thrown) {
      bus.emit({ type: 'extension-error', error: firstLineOf(thrown), event: kind, owner }, owner);
      return null;
    }
  });
  return (await Promise.all(asked)).filter((item) => item !== null);
}

function one<Kind extends RegisterKind>(host: ExtensionHost, kind: Kind, name: string): RegisterRecords[Kind] {
  const found = host.scope.registry.find(kind, name);
  if (found !== null) return found.record;
  const names = host.scope.registry.list(kind).map(({ record }) => String(record.name));
  const remedy = names.length === 0 ? `No extension registers a ${kind}.` : `Use one of: ${names.join(', ')}.`;
  throw new TidemarkError('extension_unknown', `there is no ${kind} ${JSON.stringify(name.slice(0, 200))}`, remedy);
}

function busy(name: string): TidemarkError {
  return new TidemarkError(
    'thread_busy',
    `the command ${name} is for an idle thread, and a run has the turn`,
    'Wait for the run, or cancel it; then ask again.',
  );
}

async function login(backend: RegisterRecords['auth-backend'], options: Readonly<Record<string, unknown>>) {
  if (backend.login === undefined) throw without(backend.name, 'login');
  return await backend.login(options);
}

async function logout(backend: RegisterRecords['auth-backend']) {
  if (backend.logout === undefined) throw without(backend.name, 'logout');
  return await backend.logout();
}

function without(name: string, what: string): TidemarkError {
  return new TidemarkError(
    'extension_unknown',
    `the auth backend ${name} has no ${what}`,
    'Set its key where it looks for it.',
  );
}
