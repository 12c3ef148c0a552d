import { fc } from './property-testkit.ts';
import { describe, expect, it } from 'vitest';
import type { SessionEntry } from './session-entry.ts';
import { readSessionLine, writeSessionLine, type SessionLine } from './session-jsonl.ts';
import { assistantSays, conversation, entriesOf, toolCall, toolSays, userSays } from './session-testkit.ts';

const read = (line: unknown): ReturnType<typeof readSessionLine> =>
  readSessionLine(typeof line === 'string' ? line : JSON.stringify(line));

function lineOf(value: unknown): SessionLine {
  const answer = read(value);
  if (!answer.ok) throw new Error(answer.problem);
  return answer.line;
}

describe('a line of a session file', () => {
  it('gives the message back that was written, whatever it says', () => {
    fc.assert(
      fc.property(conversation, (messages) => {
        for (const entry of entriesOf(messages)) {
          const line = writeSessionLine(entry);
          expect(line.indexOf('\n')).toBe(line.length - 1);
          expect(lineOf(line.trimEnd())).toEqual(entry);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('has the names of the contract', () => {
    const assistant = assistantSays(
      [
        { type: 'thinking', thinking: 'hm', thinkingSignature: 'sealed', redacted: true },
        { ...toolCall('c1'), nativeId: 'call_9', argumentsError: 'not JSON' },
      ],
      {
        stopReason: 'error',
        errorMessage: 'away',
        error: { code: 'provider_unavailable', retryable: true, retryAfterMs: 5 },
        usage: { input: 1, output: 2, cacheRead: 3, cacheWrite: 4, totalTokens: 10 },
      },
    );
    const result = toolSays('c1', 'a.txt', { details: { 'kept as': { it: 'is' } } });
    const lines = entriesOf([userSays('hi'), assistant, result]).map(
      (entry) => JSON.parse(writeSessionLine(entry)) as object,
    );
    expect(lines[0]).toEqual({
      type: 'message',
      id: 'e0',
      timestamp: '1970-01-01T00:00:01.000Z',
      message: { role: 'user', content: 'hi', timestamp: 1_000 },
    });
    expect(lines[1]).toEqual({
      type: 'message',
      id: 'e1',
      'parent-id': 'e0',
      timestamp: '1970-01-01T00:00:02.000Z',
      message: {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'hm', 'thinking-signature': 'sealed', 'redacted?': true },
          {
            type: 'tool-call',
            id: 'c1',
            name: 'list_files',
            arguments: { path: '.' },
            'native-id': 'call_9',
            'arguments-error': 'not JSON',
          },
        ],
        'stop-reason': 'error',
        'error-message': 'away',
        error: { code: 'provider_unavailable', retryable: true, 'retry-after-ms': 5 },
        usage: { input: 1, output: 2, 'cache-read': 3, 'cache-write': 4, 'total-tokens': 10 },
        timestamp: 2_000,
      },
    });
    expect(lines[2]).toMatchObject({
      message: {
        role: 'tool-result',
        'tool-call-id': 'c1',
        'tool-name': 'list_files',
        'is-error?': false,
        details: { 'kept as': { it: 'is' } },
      },
    });
  });

  it('may be a compaction or the state of an extension', () => {
    const base = { id: 'e2', parentId: 'e1', timestamp: '2026-01-01T00:00:00.000Z' };
    const entries: SessionEntry[] = [
      {
        type: 'compaction',
        ...base,
        summary: 's',
        firstKeptEntryId: 'e1',
        tokensBefore: 9,
        tokensAfter: 1,
        trigger: 'manual',
      },
      { type: 'extension-state', ...base, extension: 'plan', version: 1, state: { 'any key': [1, null] } },
    ];
    for (const entry of entries) expect(lineOf(writeSessionLine(entry))).toEqual(entry);
    expect(JSON.parse(writeSessionLine(entries[0] as SessionEntry))).toMatchObject({
      'first-kept-entry-id': 'e1',
      'tokens-before': 9,
      'tokens-after': 1,
    });
  });

  it('may be one of version 1, without ids', () => {
    expect(lineOf({ type: 'session', id: 'old', timestamp: '2025-01-01T00:00:00Z', cwd: '/w' })).toMatchObject({
      version: 1,
    });
    const message = { role: 'user', content: 'hi', timestamp: 1 };
    expect(lineOf({ type: 'message', timestamp: '2025-01-01T00:00:00Z', message })).toMatchObject({
      id: null,
      parentId: null,
      message,
    });
  });

  it('may come from Lua: an empty table for a list or an object, null for what is absent, keys of its own', () => {
    const message = {
      role: 'assistant',
      content: [{ type: 'tool-call', id: 'c', name: 'n', arguments: [], __raw: 1 }],
      'stop-reason': null,
      usage: { input: null, output: 3 },
      __cursor: 7,
      timestamp: 1.5,
    };
    expect(lineOf({ type: 'message', id: 'a', timestamp: '', message })).toMatchObject({
      message: {
        role: 'assistant',
        content: [{ type: 'tool-call', id: 'c', name: 'n', arguments: {} }],
        usage: { output: 3 },
        timestamp: 1,
      },
    });
    const empty = lineOf({ type: 'message', id: 'a', timestamp: '', message: { ...message, content: {} } });
    expect(empty).toMatchObject({ message: { content: [] } });
  });

  it('of a type that is not known is passed over', () => {
    const label = { type: 'label', text: 'x' };
    expect(lineOf(label)).toEqual({ type: 'unknown', text: JSON.stringify(label) });
  });

  it.each([
    ['', 'is not a JSON object'],
    ['[1]', 'is not a JSON object'],
    ['{"type":"message"', 'is not a JSON object'],
    [{ text: 'x' }, 'has no type'],
    [{ type: 'session', version: 3, id: 'x', timestamp: '' }, 'version: is newer than 2'],
    [{ type: 'message', id: 'a', message: { role: 'system', content: 'x', timestamp: 1 } }, 'message.role'],
    [{ type: 'message', id: 'a', message: { role: 'user', content: 'x', timestamp: 1e18 } }, 'message.timestamp'],
    [{ type: 'message', id: 'a', message: { ...wireResult(), 'tool-call-id': 'a\u0000' } }, 'message.tool-call-id'],
    [
      { type: 'message', id: 'a', message: { ...wireResult(), details: nested(200) } },
      'message.details: is nested too deep',
    ],
    [{ type: 'compaction', id: 'a', summary: '' }, 'summary'],
  ])('that cannot be understood is said to be so: %j', (line, problem) => {
    const answer = read(line);
    expect(answer.ok ? '' : answer.problem).toContain(problem);
  });
});

function wireResult() {
  return { role: 'tool-result', 'tool-call-id': 'c', 'tool-name': 'n', content: [], 'is-error?': false, timestamp: 1 };
}

function nested(depth: number): unknown {
  let value: unknown = 0;
  for (let i = 0; i < depth; i++) value = [value];
  return value;
}
