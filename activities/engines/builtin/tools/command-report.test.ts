import { expect, it } from 'vitest';
import { textOf } from '../../../../contract/agent-messages.ts';
import { commandReport } from './command-report.ts';
import type { CommandEnd } from './run-command.ts';
import { DEFAULT_LIMITS } from './tool.ts';

const end: CommandEnd = {
  exit: { code: 0, signal: null, stderrTail: '', overMemory: false },
  isLate: false,
  timeoutMs: 90_000,
  output: { head: Buffer.from('printed\n'), leftOutBytes: 0, tail: Buffer.alloc(0) },
};
const report = (changes: Partial<CommandEnd>) => {
  const { content, isError } = commandReport({ ...end, ...changes }, DEFAULT_LIMITS);
  return { text: textOf(content), isError };
};

it('a command that was stopped tells what it had printed until then', () => {
  const exit = { ...end.exit, code: null, signal: 'SIGTERM' };
  expect(report({ exit, isLate: true })).toEqual({
    text: 'error: stopped: it was not over after 90 seconds\nprinted\n',
    isError: true,
  });
  expect(report({ exit: { ...exit, overMemory: true } }).text).toBe(
    'error: killed: it used more than 2048 MB of memory\nprinted\n',
  );
});

it('what is cut for the model never tears a character apart', () => {
  const head = Buffer.from('🌍'.repeat(20_000));
  for (const shellChars of [1_001, 1_002, 1_003]) {
    const { content, output } = commandReport(
      { ...end, output: { ...end.output, head } },
      { ...DEFAULT_LIMITS, shellChars },
    );
    expect(textOf(content).isWellFormed()).toBe(true);
    expect(output).toEqual(head);
  }
});
