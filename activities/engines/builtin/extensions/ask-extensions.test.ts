import { describe, expect, test } from 'vitest';
import type { EmittedEvent } from '../../../../contract/extensions/bus-event.ts';
import type { CallerState, RegisterKind, RegisterRecords } from '../../../../contract/extensions/register-kinds.ts';
import { createLogger } from '../../../../infra/log.ts';
import { askExtensions, type Asked } from './ask-extensions.ts';
import { ExtensionHost } from './host.ts';

const caller = (isBusy = false): CallerState => ({
  threadId: 'thr_1',
  agent: null,
  isBusy,
  signal: new AbortController().signal,
  submit: () => Promise.reject(new Error('nothing is submitted here')),
});
const boom = (): never => {
  throw new Error('boom');
};

function hostWith<Kind extends RegisterKind>(kind: Kind, ...records: RegisterRecords[Kind][]) {
  const log = createLogger({ logLevel: 'fatal' }, 'test');
  const host = new ExtensionHost({ log, baseTools: new Map() });
  const events: EmittedEvent[] = [];
  host.scope.bus.on('extension-error', (event) => events.push(event));
  records.forEach((record, index) => host.scope.registry.register(kind, record, `owner ${String(index)}`));
  return { host, events };
}
const ask = async (host: ExtensionHost, kind: Asked['kind'], name = '', args: unknown = null, busy = false) =>
  await askExtensions(host, { kind, name, arguments: JSON.stringify(args) }, caller(busy));

describe('of several records, the one that throws is left out and said', () => {
  test('among panels', async () => {
    const hidden = { name: 'hidden', enabled: () => false, render: boom };
    const { host, events } = hostWith('panel', { name: 'bad', render: boom }, hidden, {
      name: 'good',
      render: () => ['row'],
    });
    expect(await ask(host, 'panels')).toEqual([{ name: 'good', title: 'good', rows: ['row'] }]);
    expect(events).toEqual([{ type: 'extension-error', error: 'boom', event: 'panel', owner: 'owner 0' }]);
  });

  test('among status items, which stand in their order', async () => {
    const late = { name: 'late', order: 5, render: () => 'last' };
    const empty = { name: 'empty', render: () => '' };
    const { host, events } = hostWith('status', late, { name: 'bad', render: boom }, empty, {
      name: 'early',
      render: async () => await Promise.resolve('first'),
    });
    expect(await ask(host, 'status')).toEqual([
      { name: 'early', order: 0, text: 'first' },
      { name: 'late', order: 5, text: 'last' },
    ]);
    expect(events).toHaveLength(1);
  });

  test('among snapshots', async () => {
    const { host, events } = hostWith(
      'introspect',
      { name: 'bad', snapshot: boom },
      { name: 'good', snapshot: () => 1 },
    );
    expect(await ask(host, 'introspect')).toEqual([{ owner: 'owner 1', name: 'good', description: null, snapshot: 1 }]);
    expect(events).toHaveLength(1);
  });
});

describe('one record', () => {
  test('that throws is a failure of the call: a command, a control, a login', async () => {
    await expect(ask(hostWith('command', { name: 'x', handler: boom }).host, 'command', 'x', '')).rejects.toThrow(
      'boom',
    );
    await expect(ask(hostWith('control', { name: 'x', handler: boom }).host, 'control', 'x')).rejects.toThrow('boom');
    const vault = { name: 'x', apiKey: () => null, login: boom, logout: boom };
    await expect(ask(hostWith('auth-backend', vault).host, 'login', 'x', {})).rejects.toThrow('boom');
    await expect(ask(hostWith('auth-backend', vault).host, 'logout', 'x')).rejects.toThrow('boom');
  });

  test('that is not there is unknown, with those that are', async () => {
    const { host } = hostWith('command', { name: 'go', handler: () => 1 }, { name: 'stay', handler: () => 2 });
    await expect(ask(host, 'command', 'leave', '')).rejects.toMatchObject({
      code: 'extension_unknown',
      remedy: 'Use one of: go, stay.',
    });
  });

  test('for an idle thread is refused while a run has the turn', async () => {
    const { host } = hostWith('command', { name: 'go', idleOnly: true, handler: (args) => args });
    await expect(ask(host, 'command', 'go', 'far', true)).rejects.toMatchObject({ code: 'thread_busy' });
    expect(await ask(host, 'command', 'go', 'far')).toBe('far');
  });
});
