import { describe, expect, it } from 'vitest';
import type { DeliveredEvent } from './canonical.ts';
import { begun, lastOf, legsOf, lines, shortOf, streams } from './lifecycle-legs-testkit.ts';
import * as limit from './lifecycle-limits.ts';
import { approval, decided, parked, repeatOf, settled } from './lifecycle-log-testkit.ts';

describe('the lifecycle of a run', () => {
  it('is text, reasoning and tools between run.started and a finish that shows the committed state', () => {
    const thought = [
      { type: 'think', id: 'r', text: 'hm' },
      { type: 'think-end', id: 'r' },
    ];
    const log = begun()
      .engine([...thought, { type: 'say', text: 'Hel' }, { type: 'say', text: 'lo' }])
      .engine([{ type: 'say', text: '!' }, { type: 'end' }, { type: 'call', id: 'c' }, { type: 'call', id: 'd' }])
      .engine([
        { type: 'return', id: 'd', text: 'two' },
        { type: 'fail', id: 'c', text: 'no' },
      ])
      .platform(settled());
    expect(streams(log)).toEqual([
      lines(`run.started
             reasoning.started r
             reasoning.delta r hm
             reasoning.finished r
             text.started m
             text.delta m Hello
             text.delta m !
             text.finished m
             tool.started c
             tool.started d
             tool.finished d two
             tool.error c tool_error
             run.finished success stop`),
    ]);
    expect(lastOf(log)).toEqual({
      outcome: 'success',
      stop_reason: 'stop',
      thread_state: { durability: 'committed', durable_revision: 8, head_ref: 'head-8' },
    });
    expect(legsOf(log).legs[0]?.[0]).toEqual({
      version: 1,
      type: 'run.started',
      run_id: 'run_1',
      conversation_id: 'thr_1',
      sequence: 0,
      timestamp: '2023-11-14T22:13:20.000Z',
      namespace: [],
      data: { harness_id: 'builtin', adapter_version: '1.0.0' },
    });
  });

  it('closes what the engine left open before it ends', () => {
    const open = [
      { type: 'say', text: 'half' },
      { type: 'call', id: 'c' },
    ];
    expect(streams(begun().engine(open).platform(settled('cancelled')))[0]?.slice(-3)).toEqual(
      lines(`text.finished m
             tool.error c tool_error
             run.cancelled client_request`),
    );
  });

  it('ends as an error with a safe message, and says whether a new run is worth trying', () => {
    const error = { code: 'provider_unavailable', message: `down\n\u001b[31m${'x'.repeat(5_000)}` };
    const log = begun()
      .engine([{ type: 'say', text: 'half' }])
      .platform(settled('error', { error }));
    const facts = { retryable: true, retry_after_seconds: null, side_effect_status: 'none' };
    expect(lastOf(log)).toMatchObject({ code: 'provider_unavailable', ...facts });
    const { message } = lastOf(log) as { message: string };
    expect(message).toMatch(/^down ␛\[31mx+…$/);
    expect(message).toHaveLength(limit.MESSAGE_LIMIT_CHARS);
    expect(lastOf(begun().platform(settled('error')))).toMatchObject({ code: 'internal', retryable: false });
  });

  it('is thread_durability_uncertain when the end came without a committed state', () => {
    const log = begun().engine([{ type: 'say', text: 'done' }]);
    log.platform(settled('stop', { uncommitted: true }));
    expect(lastOf(log)).toMatchObject({ code: 'thread_durability_uncertain', retryable: false });
  });

  it('takes an error that an engine disguised as a success for an error', () => {
    const body = { kind: 'harness.error', message: 'over quota', fatal: true, code: 'quota' };
    expect(
      lastOf(
        begun()
          .engine([{ type: 'body', body }])
          .platform(settled()),
      ),
    ).toMatchObject({ code: 'quota' });
  });

  const call = { type: 'call', id: 'c' };
  it.each([
    ['none', 'a call that was rejected', [call], 'reject', [{ type: 'fail', id: 'c' }]],
    ['known', 'a call that ended', [call, { type: 'return', id: 'c' }], null, []],
    ['possible', 'a call that was cut off', [call], null, []],
    ['none', 'only words', [{ type: 'say', text: 'x' }], null, []],
  ])('has side effects "%s" after %s', (status, _, before, decision, after) => {
    const log = begun().engine(before);
    if (decision !== null) log.platform(approval('i', 'c'), parked('i'), decided('i', decision)).engine(after);
    log.platform(settled('cancelled'));
    expect(lastOf(log)).toMatchObject({ side_effect_status: status });
  });

  it('warns of what the engine and the platform warn of, and says usage without inventing zero', () => {
    const usage = { type: 'body', body: { kind: 'usage.updated', outputTokens: 5, costUsd: 0.25 } };
    const log = begun()
      .platform({ type: 'run.warning', code: 'MCP server: down', message: 'no\u0007 tools' })
      .engine([{ type: 'mystery' }, usage, { type: 'body', body: { kind: 'usage.updated', inputTokens: 0 } }]);
    const none = { input_tokens: null, output_tokens: null, cached_input_tokens: null, cost: null, currency: null };
    expect(
      legsOf(log)
        .legs[0]?.slice(1)
        .map((event) => event.data),
    ).toEqual([
      { code: 'mcp_server_down', message: 'no␇ tools' },
      { code: 'harness_warning', message: 'native event without a mapping', details: { raw_event_type: 'mystery' } },
      { ...none, output_tokens: 5, cost: 0.25, currency: 'USD', final: false },
      { ...none, input_tokens: 0, final: false },
    ]);
  });

  it('ignores rows of other runs and everything after its end', () => {
    const log = begun().platform(settled());
    const stranger = { ...(log.deliveries[0] as DeliveredEvent), runId: 'run_2' };
    const late = { ...(log.deliveries[0] as DeliveredEvent), revision: 1, deliverySeq: 99 };
    const { legs } = legsOf([stranger, ...log.deliveries, late, stranger]);
    expect(legs.map(shortOf)).toEqual([['run.started', 'run.finished success stop']]);
  });
});

describe('a step that is repeated', () => {
  it('closes what its dead attempt said and says it again under new ids, with a warning between', () => {
    const again = [{ type: 'say', text: 'Hello' }, { type: 'end' }, { type: 'call', id: 'c' }];
    const log = begun()
      .engine([
        { type: 'say', text: 'Once upon' },
        { type: 'call', id: 'c' },
      ])
      .platform(repeatOf(0, 2))
      .engine(again, 0, 2)
      .engine([{ type: 'return', id: 'c', text: 'ok' }], 0, 2)
      .platform(settled());
    expect(streams(log)[0]).toEqual(
      lines(`run.started
             text.started m
             text.delta m Once upon
             tool.started c
             text.finished m
             tool.error c step_repeated
             warning step_repeated
             text.started m~2
             text.delta m~2 Hello
             text.finished m~2
             tool.started c~2
             tool.finished c~2 ok
             run.finished success stop`),
    );
  });

  it('may be repeated again, and a call that only ran in it keeps its id', () => {
    const progress = { type: 'body', body: { kind: 'tool.progress', toolCallId: 'c' } };
    const ended = { type: 'return', id: 'c', text: 'ok' };
    const log = begun()
      .engine([{ type: 'call', id: 'c' }], 0)
      .engine([progress, { type: 'say', text: '1' }], 1)
      .platform(repeatOf(1, 2))
      .engine([{ type: 'say', text: '2' }], 1, 2)
      .platform(repeatOf(1, 3))
      .engine([{ type: 'say', text: '3' }, ended], 1, 3)
      .platform(settled());
    const said = streams(log)[0]?.filter((each) => /^(text\.delta|tool)/.test(each));
    expect(said).toEqual(
      lines(`tool.started c
             text.delta m 1
             text.delta m~2 2
             text.delta m~3 3
             tool.finished c ok`),
    );
  });
});

describe('what an engine says that lifecycle v1 cannot', () => {
  it('is a torn surrogate pair: its halves are joined, and one that stays alone is shown as such', () => {
    const log = begun()
      .engine([{ type: 'say', text: 'a\ud83c' }])
      .engine([{ type: 'say', text: '\udf0db\u0000\ud83c' }])
      .engine([{ type: 'end' }]);
    expect(streams(log)[0]?.slice(2, -1)).toEqual(['text.delta m a', 'text.delta m 🌍b␀', 'text.delta m \ufffd']);
  });

  it('is a long delta, cut into legal ones, and a long result, cut to its display', () => {
    const long = 'é'.repeat(limit.DELTA_LIMIT_CHARS + 10);
    const { legs } = legsOf(begun().engine([{ type: 'end', text: long }]));
    const deltas = legs[0]?.flatMap((event) => (event.type === 'text.delta' ? [event.data.delta.length] : []));
    expect(deltas).toEqual([limit.DELTA_LIMIT_CHARS, 10]);
    const result = { type: 'return', id: 'c', text: 'r'.repeat(2_500) };
    expect(lastOf(begun().engine([{ type: 'call', id: 'c' }, result]))).toEqual({
      tool_call_id: 'c',
      result: `${'r'.repeat(2_000)}...[500 chars]`,
    });
  });

  it('is a final text: the rest of it is shown, or it replaces what it contradicts', () => {
    const goesOn = begun().engine([
      { type: 'say', text: 'Hel' },
      { type: 'end', text: 'Hello' },
    ]);
    expect(streams(goesOn)[0]?.slice(2)).toEqual(['text.delta m Hel', 'text.delta m lo', 'text.finished m']);
    const replaced = begun().engine([
      { type: 'say', text: 'Hel' },
      { type: 'end', text: 'Bye' },
    ]);
    expect(streams(replaced)[0]?.slice(2)).toEqual(
      lines(`text.delta m Hel
             text.finished m
             warning message_replaced
             text.started m~2
             text.delta m~2 Bye
             text.finished m~2`),
    );
  });

  it('is an id, a name or an argument without a legal form: it gets one that is the same every time', () => {
    const wild = ['a\nb', `${'x'.repeat(300)}1`, `${'x'.repeat(300)}2`, 'm~2', 'call-1', '\ud800'];
    const args = { constructor: { 'k\u0000': 'v\u0000' } };
    const log = begun().engine(wild.map((id) => ({ type: 'call', id, input: args })));
    const { legs } = legsOf(log);
    const ids = legs[0]?.slice(1).map((event) => (event.data as { tool_call_id: string }).tool_call_id) ?? [];
    expect(new Set(ids).size).toBe(6);
    expect(ids).toContain('call-1');
    expect(legsOf(log).legs).toEqual(legs);
    expect(legs[0]?.[1]).toMatchObject({ data: { arguments: { constructor_: { 'k␀': 'v␀' } } } });
  });

  it('is a run that passes a limit: it is cut there, with one warning, and still ends well', () => {
    const log = begun();
    for (let i = 0; i < limit.WARNINGS_PER_RUN_LIMIT + 5; i++) log.engine([{ type: `noise${String(i)}` }]);
    for (let i = 0; i < limit.OPEN_TOOL_CALLS_LIMIT + 5; i++) log.engine([{ type: 'call', id: `t${String(i)}` }]);
    const events = legsOf(log.platform(settled())).legs[0] ?? [];
    const warnings = events.filter((event) => event.type === 'warning');
    expect(warnings).toHaveLength(limit.WARNINGS_PER_RUN_LIMIT);
    expect(shortOf(warnings).filter((each) => each === 'warning stream_limit')).toHaveLength(1);
    const firstEnd = events.findIndex(({ type }) => type === 'tool.error');
    const open = events.slice(0, firstEnd).filter(({ type }) => type === 'tool.started');
    expect(open).toHaveLength(limit.OPEN_TOOL_CALLS_LIMIT);
    expect(events.at(-1)?.type).toBe('run.finished');
  });
});
