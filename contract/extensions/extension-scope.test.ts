import { describe, expect, test } from 'vitest';
import type { EmittedEvent } from './bus-event.ts';
import { EventBus } from './event-bus.ts';
import type { Extension } from './extension.ts';
import { ExtensionScope } from './extension-scope.ts';
import { ExtensionRegistry } from './registry.ts';

const tool = (name: string) => ({
  name,
  description: 'A tool',
  parameters: { type: 'object' },
  execute: () => ({ content: [], isError: false }),
});

describe('the bus', () => {
  test('gives an event to its own handlers first, then to those of all, each in the order of subscription', () => {
    const bus = new EventBus();
    const heard: string[] = [];
    bus.on('*', () => heard.push('all 1'));
    bus.on('redraw', () => heard.push('own 1'));
    bus.on('redraw', () => heard.push('own 2'));
    bus.on('*', () => heard.push('all 2'));
    bus.on('dismiss', () => heard.push('another'));
    bus.emit({ type: 'redraw' });
    expect(heard).toEqual(['own 1', 'own 2', 'all 1', 'all 2']);
  });

  test('does not give an event to a handler that came while it was emitted, nor to one that went', () => {
    const bus = new EventBus();
    const heard: string[] = [];
    bus.on('redraw', () => {
      bus.on('redraw', () => heard.push('late'));
      end();
    });
    const end = bus.on('redraw', () => heard.push('gone'));
    bus.emit({ type: 'redraw' });
    expect(heard).toEqual([]);
    bus.emit({ type: 'redraw' });
    expect(heard).toEqual(['late']);
  });

  test('isolates a handler that throws, at once or later, and says so', async () => {
    const events: EmittedEvent[] = [];
    const bus = new EventBus({ onEmitted: (event) => events.push(event) });
    const heard: string[] = [];
    bus.on('redraw', () => Promise.reject(new Error('later\nsecond line')), 'slow');
    bus.on(
      'redraw',
      () => {
        throw new Error('at once');
      },
      'quick',
    );
    bus.on('redraw', () => heard.push('unharmed'));
    bus.emit({ type: 'redraw' });
    await Promise.resolve();
    await Promise.resolve();
    expect(heard).toEqual(['unharmed']);
    expect(events).toEqual([
      { type: 'extension-error', error: 'at once', event: 'redraw', owner: 'quick' },
      { type: 'redraw' },
      { type: 'extension-error', error: 'later', event: 'redraw', owner: 'slow' },
    ]);
  });

  test('does not say what fails while a failure is handled, so nothing goes in circles', () => {
    const unsaid: unknown[] = [];
    const events: EmittedEvent[] = [];
    const bus = new EventBus({ onEmitted: (event) => events.push(event), onUnsaid: (failure) => unsaid.push(failure) });
    bus.on(
      'extension-error',
      () => {
        throw new Error('again');
      },
      'worse',
    );
    bus.on(
      'redraw',
      () => {
        throw new Error('first');
      },
      'bad',
    );
    bus.emit({ type: 'redraw' });
    expect(events.map(({ type }) => type)).toEqual(['extension-error', 'redraw']);
    expect(unsaid).toEqual([{ owner: 'worse', error: 'again' }]);
  });

  test('ends a circle of handlers that emit to each other', () => {
    const unsaid: { error: string }[] = [];
    const bus = new EventBus({ onUnsaid: (failure) => unsaid.push(failure) });
    bus.on('ping', () => bus.emit({ type: 'pong' }));
    bus.on('pong', () => bus.emit({ type: 'ping' }));
    bus.emit({ type: 'ping' });
    expect(unsaid).toHaveLength(1);
    expect(unsaid[0]?.error).toContain('nest');
  });

  test('ignores what has no type', () => {
    const events: EmittedEvent[] = [];
    new EventBus({ onEmitted: (event) => events.push(event) }).emit({} as EmittedEvent);
    expect(events).toEqual([]);
  });
});

describe('the registry', () => {
  test('lets the last writer of a name win, and the one before again when that one goes', () => {
    const registry = new ExtensionRegistry();
    registry.register('command', { name: 'go', handler: () => 1 }, 'first');
    const second = registry.register('command', { name: 'go', handler: () => 2 }, 'second');
    expect(registry.list('command').map(({ owner }) => owner)).toEqual(['second']);
    second.unregister();
    second.unregister();
    expect(registry.find('command', 'go')?.owner).toBe('first');
  });

  test('lets records of one name stand side by side where they add up', () => {
    const registry = new ExtensionRegistry();
    for (const owner of ['a', 'b']) registry.register('introspect', { name: 'state', snapshot: () => owner }, owner);
    expect(registry.list('introspect').map(({ owner }) => owner)).toEqual(['a', 'b']);
  });

  test('takes out exactly the record that is unregistered', () => {
    const registry = new ExtensionRegistry();
    const one = registry.register('hook', { beforeTool: () => null }, 'a');
    registry.register('hook', { beforeTool: () => null }, 'a');
    one.unregister();
    expect(registry.list('hook')).toHaveLength(1);
  });

  test('refuses a second tool of a name, and says who has it', () => {
    const registry = new ExtensionRegistry();
    registry.register('tool', tool('add'), 'calculator');
    expect(() => registry.register('tool', tool('add'), 'another')).toThrow(
      'the tool add is registered already, by calculator',
    );
  });
});

describe('an extension', () => {
  const scopeWith = () => {
    const events: EmittedEvent[] = [];
    return { events, scope: new ExtensionScope({ onEmitted: (event) => events.push(event) }) };
  };
  const load = (scope: ExtensionScope, name: string, extension: Extension) =>
    scope.load({ name, firstParty: false, extension });

  test('that is loaded is said to be, with what it registered under its name', async () => {
    const { scope, events } = scopeWith();
    const loaded = await load(scope, 'adder', (api) => void api.register('tool', tool('add')));
    expect(loaded).toEqual({ name: 'adder', firstParty: false, error: null });
    expect(scope.registry.find('tool', 'add')?.owner).toBe('adder');
    expect(events).toEqual([{ type: 'extension-loaded', name: 'adder', firstParty: false }]);
  });

  test('that fails half way leaves nothing behind and harms no other', async () => {
    const { scope, events } = scopeWith();
    await load(scope, 'good', (api) => void api.register('tool', tool('good')));
    const failed = await load(scope, 'bad', (api) => {
      api.register('tool', tool('half'));
      api.on('redraw', () => {
        throw new Error('never subscribed');
      });
      api.register('tool', { name: 'other' } as never);
    });
    expect(failed.error).toContain('this cannot be a tool: description is missing');
    expect(scope.registry.list('tool').map(({ owner }) => owner)).toEqual(['good']);
    scope.bus.emit({ type: 'redraw' });
    expect(events.filter(({ type }) => type === 'extension-error')).toHaveLength(1);
  });

  test('that is loaded again takes the place of the old one', async () => {
    const { scope } = scopeWith();
    const heard: string[] = [];
    const version =
      (name: string): Extension =>
      (api) => {
        api.register('tool', tool(name));
        api.on('redraw', () => heard.push(name));
      };
    await load(scope, 'it', version('one'));
    await load(scope, 'it', version('two'));
    scope.bus.emit({ type: 'redraw' });
    expect(heard).toEqual(['two']);
    expect(scope.registry.list('tool').map(({ record }) => record.name)).toEqual(['two']);
    scope.unload('it');
    expect(scope.registry.list('tool')).toEqual([]);
    expect(scope.loaded()).toEqual([]);
  });

  test('cannot emit an event of the contract in another form', async () => {
    const { scope } = scopeWith();
    const loaded = await load(scope, 'wild', (api) => api.emit({ type: 'error', text: 'not the contract' }));
    expect(loaded.error).toContain('this cannot be an event error: error: ');
  });
});
