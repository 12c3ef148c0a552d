import { describe, expect, it } from 'vitest';
import * as limit from './lifecycle-limits.ts';
import { isTerminal, LIFECYCLE_TYPES, LifecycleEvent, type LifecycleType } from './lifecycle.ts';
import { line, SAMPLE_DATA, streamOf } from './lifecycle-testkit.ts';
import { validateLifecycleEvent } from './lifecycle-validate.ts';

type Fields = Record<string, unknown>;

/** An event of a type, with fields of its data or of its envelope replaced. */
function made(type: LifecycleType, data: Fields = {}, envelope: Fields = {}): Fields {
  const [event] = streamOf([line(type, SAMPLE_DATA[type])]);
  return { ...event, data: { ...event?.data, ...data }, ...envelope };
}

const chars = (count: number) => 'x'.repeat(count);
const items = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${String(i)}`, i]));
const nested = (depth: number): Fields => (depth === 1 ? {} : { a: nested(depth - 1) });
const ofJsonLength = (length: number): Fields => {
  const half = Math.floor((length - 15) / 2);
  return { a: chars(half), b: chars(length - 15 - half) };
};
const field = (fields: Fields): Fields => ({ field_name: 'f', field_type: 'text', required: true, ...fields });
const form = (fields: readonly Fields[], more: Fields = {}): Fields => {
  const data = { interrupt_id: 'i', interrupt_type: 'form_input', agent_id: 'a', prompt: 'p', fields, ...more };
  return { ...made('interrupt.requested'), data };
};
const approval = (fields: Fields): Fields => ({
  tool_call_id: 't',
  tool_name: 'tool',
  tool_args: {},
  allowed_decisions: ['approve'],
  ...fields,
});
const many = (count: number, of: (i: number) => unknown) => Array.from({ length: count }, (_, i) => of(i));

describe('an event of lifecycle v1', () => {
  it('is one of 21 types, four of them terminal', () => {
    expect(LIFECYCLE_TYPES).toHaveLength(21);
    const terminals = LIFECYCLE_TYPES.filter((type) => isTerminal({ type }));
    expect(terminals).toEqual(['run.finished', 'run.interrupted', 'run.cancelled', 'run.error']);
    for (const type of LIFECYCLE_TYPES)
      expect(validateLifecycleEvent(made(type))).toEqual({ ok: true, event: made(type) });
  });

  it('has no field that v1 does not know, at any level', () => {
    const more = { surprise: 1 };
    for (const type of LIFECYCLE_TYPES) {
      expect(validateLifecycleEvent(made(type, {}, more))).toMatchObject({ ok: false, rule: null });
      expect(validateLifecycleEvent(made(type, more))).toMatchObject({ ok: false, rule: null });
    }
    expect(validateLifecycleEvent(form([field(more)])).ok).toBe(false);
    expect(validateLifecycleEvent(made('interrupt.requested', { tool_approvals: [approval(more)] })).ok).toBe(false);
    const state = { durability: 'committed', durable_revision: 1, head_ref: 'h', ...more };
    expect(validateLifecycleEvent(made('run.finished', { thread_state: state })).ok).toBe(false);
  });

  it('has every field that v1 demands', () => {
    for (const type of LIFECYCLE_TYPES) {
      for (const name of Object.keys(made(type))) {
        const event = made(type);
        delete event[name];
        expect(validateLifecycleEvent(event).ok, `${type} without ${name}`).toBe(false);
      }
    }
  });

  it.each<[string, Fields]>([
    ['another version', made('warning', {}, { version: 2 })],
    ['an unknown type', { ...made('warning'), type: 'text.replaced' }],
    ['an empty id', made('text.started', { message_id: '' })],
    ['a line break in an id', made('text.started', { message_id: 'a\nb' })],
    ['a negative sequence', made('warning', {}, { sequence: -1 })],
    ['a sequence that is no integer', made('warning', {}, { sequence: 1.5 })],
    ['a timestamp with an offset', made('warning', {}, { timestamp: '2026-08-17T00:00:00+02:00' })],
    ['a timestamp that is no date', made('warning', {}, { timestamp: '2026-02-30T00:00:00Z' })],
    ['a namespace that is no list', made('warning', {}, { namespace: 'a' })],
    ['a role that is not the assistant’s', made('text.started', { role: 'user' })],
    ['arguments that are no object', made('tool.started', { arguments: ['a'] })],
    ['an outcome other than success', made('run.finished', { outcome: 'cancelled' })],
    ['a code with capitals', made('run.error', { code: 'Internal' })],
    [
      'a decision that v1 does not know',
      made('interrupt.requested', { tool_approvals: [approval({ allowed_decisions: ['always'] })] }),
    ],
    [
      'a decision twice',
      made('interrupt.requested', { tool_approvals: [approval({ allowed_decisions: ['edit', 'edit'] })] }),
    ],
    ['a call twice', made('interrupt.requested', { tool_approvals: [approval({}), approval({})] })],
    ['a form without fields', form([])],
    ['a form field twice', form([field({}), field({})])],
    ['a negative count', made('usage.updated', { input_tokens: -1 })],
    ['a currency that is no code', made('usage.updated', { currency: 'euro' })],
    ['a metadata key that is not allowed', made('provider.metadata', { metadata: { api_key: 'x' } })],
    ['a metadata value that is no scalar', made('provider.metadata', { metadata: { region: ['eu'] } })],
    ['not-a-number', made('usage.updated', { cost: Number.NaN })],
    ['an infinity', made('usage.updated', { cost: Number.POSITIVE_INFINITY })],
    ['a lone surrogate', made('text.delta', { delta: '\ud83c' })],
    ['a control character', made('text.delta', { delta: '\u001b[2J' })],
    ['a prototype key', made('tool.started', { arguments: JSON.parse('{"__proto__":1}') as unknown })],
    ['undefined', made('run.started', { message_id: undefined })],
  ])('is refused with %s', (_, event) => {
    expect(validateLifecycleEvent(event)).toMatchObject({ ok: false, rule: null });
  });

  it.each<[string, (size: number) => unknown, number]>([
    ['run_id', (n) => made('warning', {}, { run_id: chars(n) }), limit.ID_LIMIT_CHARS],
    ['conversation_id', (n) => made('warning', {}, { conversation_id: chars(n) }), limit.ID_LIMIT_CHARS],
    ['message_id', (n) => made('text.delta', { message_id: chars(n) }), limit.ID_LIMIT_CHARS],
    ['tool_call_id', (n) => made('tool.finished', { tool_call_id: chars(n) }), limit.ID_LIMIT_CHARS],
    ['tool_name', (n) => made('tool.started', { tool_name: chars(n) }), limit.NAME_LIMIT_CHARS],
    ['code', (n) => made('warning', { code: chars(n) }), limit.CODE_LIMIT_CHARS],
    ['message', (n) => made('run.error', { message: chars(n) }), limit.MESSAGE_LIMIT_CHARS],
    ['text delta', (n) => made('text.delta', { delta: chars(n) }), limit.DELTA_LIMIT_CHARS],
    ['reasoning delta', (n) => made('reasoning.delta', { delta: chars(n) }), limit.DELTA_LIMIT_CHARS],
    ['arguments delta', (n) => made('tool.arguments.delta', { delta: chars(n) }), limit.DELTA_LIMIT_CHARS],
    ['tool result', (n) => made('tool.finished', { result: chars(n) }), limit.TOOL_RESULT_LIMIT_CHARS],
    ['arguments', (n) => made('tool.started', { arguments: ofJsonLength(n) }), limit.TOOL_ARGUMENTS_LIMIT_CHARS],
    ['arguments depth', (n) => made('tool.started', { arguments: nested(n) }), limit.JSON_DEPTH_LIMIT],
    ['arguments members', (n) => made('tool.started', { arguments: items(n) }), limit.JSON_ITEMS_LIMIT],
    ['arguments key', (n) => made('tool.started', { arguments: { [chars(n)]: 1 } }), limit.JSON_KEY_LIMIT_CHARS],
    ['arguments string', (n) => made('tool.started', { arguments: { a: chars(n) } }), limit.JSON_STRING_LIMIT_CHARS],
    ['details members', (n) => made('warning', { details: items(n) }), limit.WARNING_DETAILS_ITEMS_LIMIT],
    ['details depth', (n) => made('warning', { details: nested(n) }), limit.WARNING_DETAILS_DEPTH_LIMIT],
    ['details', (n) => made('warning', { details: ofJsonLength(n) }), limit.WARNING_DETAILS_LIMIT_CHARS],
    [
      'metadata text',
      (n) => made('provider.metadata', { metadata: { region: chars(n) } }),
      limit.METADATA_STRING_LIMIT_CHARS,
    ],
    ['namespace depth', (n) => made('warning', {}, { namespace: many(n, String) }), limit.NAMESPACE_DEPTH_LIMIT],
    ['namespace element', (n) => made('warning', {}, { namespace: [chars(n)] }), limit.ID_LIMIT_CHARS],
    ['prompt', (n) => form([field({})], { prompt: chars(n) }), limit.PROMPT_LIMIT_CHARS],
    [
      'form fields',
      (n) => form(many(n, (i) => field({ field_name: `f${String(i)}` })) as Fields[]),
      limit.FORM_FIELDS_LIMIT,
    ],
    ['field values', (n) => form([field({ field_values: many(n, String) })]), limit.FIELD_VALUES_LIMIT],
    ['field value', (n) => form([field({ value: chars(n) })]), limit.PROMPT_LIMIT_CHARS],
    [
      'tool approvals',
      (n) =>
        made('interrupt.requested', { tool_approvals: many(n, (i) => approval({ tool_call_id: `t${String(i)}` })) }),
      limit.TOOL_APPROVALS_LIMIT,
    ],
    ['tokens', (n) => made('usage.updated', { input_tokens: n }), limit.TOKENS_LIMIT],
    ['cost', (n) => made('usage.updated', { cost: n }), limit.COST_LIMIT],
    ['retry_after_seconds', (n) => made('run.error', { retry_after_seconds: n }), limit.RETRY_AFTER_LIMIT_SECONDS],
  ])('holds at its limit of %s and is refused by rule 11 one over it', (_, of, size) => {
    expect(validateLifecycleEvent(of(size))).toMatchObject({ ok: true });
    expect(validateLifecycleEvent(of(size + 1))).toMatchObject({ ok: false, rule: 11 });
  });

  it('is refused with the field at fault, never with what was in it', () => {
    const secret = 'sk-secret-0123456789';
    const faults: unknown[] = [
      made('warning', { [secret]: 1 }),
      made('warning', { code: secret }),
      made('warning', { details: { [secret]: Number.NaN } }),
      made('provider.metadata', { metadata: { [secret]: 1 } }),
      made('tool.started', { arguments: { [secret]: chars(limit.JSON_STRING_LIMIT_CHARS + 1) } }),
      { ...made('warning'), type: secret },
      secret,
      new Error(secret),
    ];
    for (const fault of faults) {
      const validated = validateLifecycleEvent(fault);
      expect(validated.ok).toBe(false);
      expect(JSON.stringify(validated)).not.toContain('secret');
    }
    expect(validateLifecycleEvent(made('run.error', { code: 'X' }))).toMatchObject({
      reason: 'data.code is not valid',
    });
    expect(validateLifecycleEvent(made('warning', { more: 1 }))).toMatchObject({
      reason: 'data has a field that v1 does not know',
    });
  });

  it('is the example of the contract', () => {
    const example = {
      version: 1,
      type: 'text.delta',
      run_id: 'run-opaque',
      conversation_id: 'conversation-example',
      sequence: 3,
      timestamp: '2026-08-17T00:00:00Z',
      namespace: [],
      data: { message_id: 'm', delta: 'text' },
    };
    expect(LifecycleEvent.parse(example)).toEqual(example);
  });
});
