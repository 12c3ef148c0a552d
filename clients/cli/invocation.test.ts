import { describe, expect, it } from 'vitest';
import { readInvocation } from './invocation.ts';
import { readSlashCommand } from './terminal/slash-command.ts';
import { visible } from './visible.ts';

describe('the command line', () => {
  it('is a command with its options and arguments, in any order', () => {
    expect(
      readInvocation(['chat', 'say', '--model', 'm', 'this', '--extension', 'a', '--extension', 'b', '--approve']),
    ).toEqual({
      command: 'chat',
      values: { model: 'm', extension: ['a', 'b'], approve: true },
      args: ['say', 'this'],
    });
    expect(readInvocation(['chat', '--', '--not-an-option'])).toMatchObject({ args: ['--not-an-option'] });
  });

  it.each([
    [[], 'a command is missing'],
    [['constructor'], 'there is no command "constructor"'],
    [['runs'], 'runs needs an id'],
    [['verify', 'a', 'b'], 'verify takes no more than 1'],
    [['verify', 'a', '--thread', 't'], "Unknown option '--thread'"],
    [['cancel', 'a', '--wait=yes'], "Option '--wait' does not take an argument"],
  ])('%j is wrong usage: %s', (argv, message) => {
    expect(() => readInvocation(argv)).toThrow(
      expect.objectContaining({ name: 'UsageError', message: expect.stringContaining(message) }),
    );
  });

  it.each([[['--help']], [['help']], [['chat', '-h']], [['verify', 'a', '--help']]])('%j asks for help', (argv) => {
    expect(readInvocation(argv)).toBe('help');
  });
});

describe('a line that begins with a slash', () => {
  it.each([
    ['/new', { kind: 'local', name: 'new', args: '' }],
    ['/exit', { kind: 'local', name: 'quit', args: '' }],
    ['/compact keep  the names \n', { kind: 'server', name: 'compact', args: 'keep  the names' }],
    ['/constructor', { kind: 'server', name: 'constructor', args: '' }],
    ['/', null],
    ['and/or', null],
  ])('%j', (line, command) => {
    expect(readSlashCommand(line)).toEqual(command);
  });
});

describe('text of others', () => {
  it('can neither steer the terminal nor hide what it says', () => {
    expect(visible('a\u001b]0;t\u0007b\rc\u202ed\r\ne\tf')).toBe('a␛]0;t␇b␍c\ufffdd\ne\tf');
  });
});
