import { describe, expect, test } from 'vitest';
import { BUS_EVENT_NAMES, faultsOfEvent } from './bus-event.ts';
import { REGISTER_KINDS, REGISTER_SCHEMAS, type RegisterKind } from './register-kinds.ts';
import { ExtensionRegistry } from './registry.ts';

const f = () => null;
const methods = (...names: string[]) => Object.fromEntries(names.map((name) => [name, f]));

/** For each kind, what the contract requires and what it lets be left out ("Register kinds", "Interfaces"). */
const KINDS: Readonly<Record<RegisterKind, { required: Record<string, unknown>; optional: Record<string, unknown> }>> =
  {
    'auth-backend': { required: { name: 'vault', apiKey: f }, optional: methods('login', 'logout') },
    command: {
      required: { name: 'deploy', handler: f },
      optional: { description: 'Deploys', idleOnly: true, order: 1 },
    },
    control: { required: { name: 'toggle', handler: f }, optional: { description: 'Toggles' } },
    hook: { required: { beforeTool: f }, optional: { name: 'policy' } },
    introspect: { required: { name: 'state', snapshot: f }, optional: { description: 'State' } },
    panel: { required: { name: 'todo', render: f }, optional: { title: 'Todo', enabled: f } },
    presenter: { required: { name: 'tty', run: f }, optional: methods('init', 'shutdown') },
    provider: {
      required: {
        name: 'mine',
        api: 'openai-completions',
        ...methods('complete', 'convertMessages', 'convertTools', 'mapStopReason', 'parseResponse', 'buildBody'),
      },
      optional: {},
    },
    'session-backend': {
      required: {
        name: 'files',
        ...methods('open', 'openExisting', 'append', 'close', 'load', 'find', 'list', 'latest'),
      },
      optional: {},
    },
    status: { required: { name: 'branch', render: f }, optional: { order: 2 } },
    tool: {
      required: { name: 'add', description: 'Adds', parameters: { type: 'object' }, execute: f },
      optional: { label: 'Add', approval: 'always', repeatable: true, parallelSafe: true },
    },
  };

const wrong = (value: unknown): unknown => (typeof value === 'string' ? 7 : 'seven');
const register = (kind: RegisterKind, record: object) =>
  new ExtensionRegistry().register(kind, record as never, 'someone');

test('the kinds are the eleven of the contract', () => {
  expect(REGISTER_KINDS.toSorted()).toEqual(Object.keys(KINDS).toSorted());
  expect(REGISTER_KINDS).toHaveLength(11);
});

describe.each(Object.entries(KINDS))('a record of the kind %s', (name, { required, optional }) => {
  const kind = name as RegisterKind;

  test('is taken with what is required, and with everything', () => {
    expect(register(kind, required)).toMatchObject({ kind, owner: 'someone' });
    expect(register(kind, { ...required, ...optional })).toMatchObject({
      kind,
      name: { ...optional, ...required }['name'] ?? null,
    });
  });

  test.each(Object.keys(required))('is refused without %s, which is named', (field) => {
    const { [field]: _, ...rest } = required;
    expect(() => register(kind, rest)).toThrow(`this cannot be a ${kind}: ${field} is missing`);
  });

  test.each(Object.entries({ ...required, ...optional }))(
    'is refused with a wrong %s, which is named',
    (field, value) => {
      expect(() => register(kind, { ...required, ...optional, [field]: wrong(value) })).toThrow(
        new RegExp(`^this cannot be a ${kind}: ${field} must be`),
      );
    },
  );

  test('names every fault at once', () => {
    const faults = Object.keys(required).map((field) => `${field} is missing`);
    for (const fault of faults) expect(() => register(kind, {})).toThrow(fault);
  });

  test('is no more than a record', () => {
    expect(() => register(kind, 'text' as never)).toThrow(`this cannot be a ${kind}: the record`);
  });
});

test('a kind that does not exist is refused with those that do', () => {
  expect(() => register('widget' as RegisterKind, {})).toThrow(
    /there is no kind "widget"; the kinds are auth-backend, command/,
  );
  expect(() => register('constructor' as RegisterKind, {})).toThrow('there is no kind "constructor"');
});

test('every schema is of a kind', () => {
  expect(Object.keys(REGISTER_SCHEMAS)).toEqual([...REGISTER_KINDS]);
});

describe('an event of the bus', () => {
  test('has a name of the contract', () => {
    // extension contracts, "Events": 37 of them
    expect(BUS_EVENT_NAMES).toHaveLength(37);
  });

  test.each([
    [{ type: 'error' }, 'error: '],
    [{ type: 'queued', text: 'hello' }, 'line: '],
    [{ type: 'agent-shutdown', agent: { runId: 'r', threadId: 't', model: 'm' }, reason: 'bored' }, 'reason: '],
    [{ type: 'text-delta', delta: 'x' }, 'contentIndex: '],
  ])('with a payload of another form is at fault: %j', (event, fault) => {
    expect(faultsOfEvent(event).join()).toContain(fault);
  });

  test('of the extensions themselves may hold anything', () => {
    expect(faultsOfEvent({ type: 'my-event', anything: [1] })).toEqual([]);
  });
});
