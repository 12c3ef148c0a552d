import { expect, test } from 'vitest';
import { argumentsOf } from './arguments.ts';

const usual = { sandbox: 'workspace-write', approveForMe: false } as const;
const begun = { model: null, threadId: null };

test.each([
  ['begins a thread in its sandbox', usual, begun, '--json --skip-git-repo-check --sandbox workspace-write -'],
  [
    'uses a model',
    { ...usual, sandbox: 'read-only' },
    { ...begun, model: 'small' },
    '--json --skip-git-repo-check --sandbox read-only --model small -',
  ],
  ['lets a model judge', { ...usual, approveForMe: true }, begun, '--json --skip-git-repo-check --approve-for-me -'],
  [
    'takes a thread up with the sandbox of now',
    usual,
    { ...begun, threadId: 'thread' },
    '--json --skip-git-repo-check --sandbox workspace-write resume thread -',
  ],
] as const)('a command line that %s', (_, settings, turn, line) => {
  expect(argumentsOf(settings, turn).join(' ')).toBe(line);
});
