import { fc } from './property-testkit.ts';
import { describe, expect, it } from 'vitest';
import { examineSession, type NumberedLine } from './session-doctor.ts';
import type { SessionEntry, SessionHeader } from './session-entry.ts';
import { readSessionLine, writeSessionLine } from './session-jsonl.ts';
import { repairedSession } from './session-repair.ts';
import { assistantSays, conversation, entriesOf, fileOf, toolCall, toolSays, userSays } from './session-testkit.ts';

const FALLBACK: SessionHeader = {
  type: 'session',
  version: 2,
  id: 'f',
  timestamp: '2026-01-01T00:00:00.000Z',
  cwd: '/',
};

function linesOf(file: string): NumberedLine[] {
  const texts = file.split('\n').filter((text) => text !== '');
  return texts.map((text, index) => ({ number: index + 1, read: readSessionLine(text) }));
}

const codesOf = (file: string): string[] =>
  examineSession(linesOf(file)).map(({ code, line }) => `${String(line)} ${code}`);
const repair = (file: string): string => repairedSession(linesOf(file), FALLBACK).map(writeSessionLine).join('');

function messagesOf(file: string) {
  return linesOf(file).flatMap(({ read }) => (read.ok && read.line.type === 'message' ? [read.line.message] : []));
}

describe('a session file with faults', () => {
  it.each<[string, string, string[]]>([
    ['that was cut', `${fileOf(entriesOf([userSays('hi')]))}{"type":"mess`, ['3 malformed_json']],
    ['with a header alone', fileOf([]), ['1 orphaned_header']],
    ['of two sessions', fileOf(entriesOf([userSays('a')])) + fileOf([]), ['3 orphaned_header']],
    ['with a failed answer', fileOf(entriesOf([assistantSays('', { stopReason: 'error' })])), ['2 assistant_error']],
    [
      'with a repeated call',
      fileOf(entriesOf([assistantSays([toolCall('a')]), toolSays('a', ''), assistantSays([toolCall('a')])])),
      ['4 duplicate_tool_call'],
    ],
    ['with a stray result', fileOf(entriesOf([userSays('x'), toolSays('a', '')])), ['3 orphan_tool_result']],
    [
      'with an open call',
      fileOf(entriesOf([assistantSays([toolCall('a')]), userSays('x')])),
      ['2 missing_tool_result'],
    ],
    [
      'with a huge result',
      fileOf(entriesOf([assistantSays([toolCall('a')]), toolSays('a', '你'.repeat(34_000))])),
      ['3 oversized_tool_result'],
    ],
  ])('%s is said to have them, and has none when it is repaired', (_, file, codes) => {
    expect(codesOf(file)).toEqual(codes);
    const repaired = repair(file);
    expect(codesOf(repaired).filter((code) => !code.endsWith('orphaned_header') || codes.length > 1)).toEqual([]);
    expect(repair(repaired)).toBe(repaired);
  });

  it('keeps all that is sound, and tells what it made up', () => {
    const sound = [userSays('look'), assistantSays([toolCall('a'), toolCall('b')]), toolSays('b', 'B')];
    const repaired = messagesOf(repair(fileOf(entriesOf([...sound, userSays('and?'), toolSays('a', 'late')]))));
    expect(repaired.slice(0, 3)).toEqual(sound);
    expect(repaired[3]).toMatchObject({ role: 'tool-result', toolCallId: 'a', isError: true });
    expect(repaired.slice(4)).toEqual([userSays('and?')]);
  });

  it('of version 1 gets ids, and lines of unknown types stay as they are', () => {
    const old = [
      '{"type":"session","id":"old","timestamp":"2025-01-01T00:00:00Z","cwd":"/w"}',
      '{"type":"label","text":"x"}',
      '{"type":"message","timestamp":"2025-01-01T00:00:00Z","message":{"role":"user","content":"hi","timestamp":1}}',
    ].join('\n');
    const [header, label, entry] = repair(old).split('\n');
    expect(JSON.parse(header ?? '')).toMatchObject({ id: 'old', version: 2 });
    expect(label).toBe('{"type":"label","text":"x"}');
    expect(JSON.parse(entry ?? '')).toMatchObject({ id: 'line-3' });
  });

  it('is sound after its repair, whatever lines of it were lost, repeated or exchanged', () => {
    fc.assert(
      fc.property(conversation, fc.array(fc.nat({ max: 30 }), { maxLength: 30 }), (messages, picks) => {
        const entries = entriesOf(messages);
        const some = picks.flatMap((pick): SessionEntry | never[] => entries[pick % entries.length] ?? []);
        const repaired = repair(fileOf(some));
        const left = examineSession(linesOf(repaired)).filter(({ code }) => code !== 'orphaned_header');
        expect(left).toEqual([]);
        expect(repair(repaired)).toBe(repaired);
      }),
      { numRuns: 100 },
    );
  });
});
