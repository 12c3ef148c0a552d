import { fc } from './property-testkit.ts';
import { describe, expect, it } from 'vitest';
import type { CompactionEntry, SessionEntry } from './session-entry.ts';
import { planImport, type ImportPlan } from './session-import.ts';
import { readSessionLine } from './session-jsonl.ts';
import { assistantSays, conversation, entriesOf, fileOf, toolCall, toolSays, userSays } from './session-testkit.ts';

function plan(file: string): ImportPlan {
  const lines = file.split('\n').filter((line) => line !== '');
  return planImport(lines.map((line, index) => ({ number: index + 1, read: readSessionLine(line) })));
}

function refusal(file: string): unknown {
  const answer = plan(file);
  return answer.ok ? null : answer.problem;
}

function compaction(firstKeptEntryId: string): CompactionEntry {
  return {
    type: 'compaction',
    id: 'k',
    parentId: null,
    timestamp: '2026-01-01T00:00:00.000Z',
    summary: 'short',
    firstKeptEntryId,
  };
}

function insertedAfter(entries: SessionEntry[], at: number, entry: SessionEntry): SessionEntry[] {
  return entries.toSpliced(at, 0, entry);
}

describe('a session file', () => {
  it('becomes turns that hold every message once, in order', () => {
    fc.assert(
      fc.property(conversation, (messages) => {
        const answer = plan(fileOf(entriesOf(messages)));
        if (!answer.ok) throw new Error(answer.problem.detail);
        const said = answer.turns.flatMap(({ input, steps }) => [input, ...steps.map(({ message }) => message)]);
        expect(said).toEqual(messages);
        for (const { steps } of answer.turns) {
          const indexes = steps.map(({ stepIndex }) => stepIndex);
          expect(new Set(indexes).size).toBe(indexes.length);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('keeps arguments that are called as a prototype is', () => {
    const args = JSON.parse('{"__proto__":{"x":1},"constructor":2}') as Record<string, unknown>;
    const call = { ...toolCall('a'), arguments: args };
    const answer = plan(fileOf(entriesOf([userSays('hi'), assistantSays([call])])));
    if (!answer.ok) throw new Error(answer.problem.detail);
    expect(JSON.stringify(answer.turns[0]?.steps[0]?.message)).toContain('{"__proto__":{"x":1},"constructor":2}');
  });

  it('numbers its steps as the built-in engine does, and ends its turns as they ended', () => {
    const answer = plan(
      fileOf(
        entriesOf([
          userSays('look'),
          assistantSays([toolCall('a'), toolCall('b')], { stopReason: 'tool-use' }),
          toolSays('b', 'B'),
          toolSays('a', 'A', { isError: true }),
          assistantSays('done', { provider: 'openai', model: 'gpt', stopReason: 'length' }),
          userSays('stop'),
          assistantSays('I was', { stopReason: 'aborted' }),
          userSays('fail'),
          assistantSays([], {
            stopReason: 'error',
            errorMessage: 'over\u0000load',
            error: { code: 'provider_auth', retryable: false },
          }),
          userSays('nobody answers'),
        ]),
      ),
    );
    if (!answer.ok) throw new Error(answer.problem.detail);
    expect(answer.turns.map(({ ending }) => ending)).toEqual([
      { status: 'completed', stopReason: 'length' },
      { status: 'failed', stopReason: 'cancelled' },
      { status: 'failed', stopReason: 'error', error: { code: 'provider_auth', message: 'over\u2400load' } },
      { status: 'failed', stopReason: 'cancelled' },
    ]);
    const steps = answer.turns[0]?.steps.map(({ stepIndex, kind, label, status }) => [stepIndex, kind, label, status]);
    expect(steps).toEqual([
      [0, 'model', 'unknown', 'completed'],
      [2, 'tool', 'list_files', 'completed'],
      [1, 'tool', 'list_files', 'failed'],
      [3, 'model', 'openai/gpt', 'completed'],
    ]);
    expect(answer.turns[0]?.model).toBe('openai/gpt');
  });

  it('is read with its newest compaction applied, and whole where that leads nowhere', () => {
    const entries = entriesOf([userSays('one'), assistantSays('1'), userSays('two'), assistantSays('2')]);
    const inputs = (file: string) => {
      const answer = plan(file);
      return answer.ok ? answer.turns.map(({ input }) => input.content) : [];
    };
    const applied = inputs(fileOf(insertedAfter(entries, 4, compaction('e2'))));
    expect(applied).toEqual([expect.stringContaining('short'), 'two']);
    expect(inputs(fileOf(insertedAfter(entries, 4, compaction('nowhere'))))).toEqual(['one', 'two']);
    expect(inputs(fileOf(insertedAfter(entries, 1, compaction('e2'))))).toEqual(['one', 'two']);
  });

  it('that cannot be gone on with is refused with the line and the reason', () => {
    const good = entriesOf([userSays('hi'), assistantSays([toolCall('a')])]);
    expect(refusal('')).toMatchObject({ line: 0, reason: 'no_header' });
    expect(refusal('{nonsense')).toMatchObject({ line: 1, reason: 'malformed_json' });
    expect(refusal(fileOf([]))).toMatchObject({ line: 1, reason: 'orphaned_header' });
    expect(refusal(fileOf(good).split('\n').slice(1).join('\n'))).toMatchObject({ line: 1, reason: 'no_header' });
    expect(refusal(fileOf(good) + fileOf(good))).toMatchObject({ line: 4, reason: 'orphaned_header' });
    expect(refusal(`${fileOf(good)}{"type":"mess`)).toMatchObject({ line: 4, reason: 'malformed_json' });
    const twice = entriesOf([userSays('hi'), assistantSays([toolCall('a'), toolCall('a')])]);
    expect(refusal(fileOf(twice))).toMatchObject({ line: 3, reason: 'duplicate_tool_call' });
    const orphan = entriesOf([userSays('hi'), toolSays('a', 'x')]);
    expect(refusal(fileOf(orphan))).toMatchObject({ line: 3, reason: 'orphan_tool_result' });
    const late = entriesOf([userSays('hi'), assistantSays([toolCall('a')]), userSays('wait'), toolSays('a', 'x')]);
    expect(refusal(fileOf(late))).toMatchObject({ line: 5, reason: 'orphan_tool_result' });
    expect(refusal(fileOf(entriesOf([assistantSays('hi')])))).toMatchObject({ line: 0, reason: 'no_user_message' });
  });
});
