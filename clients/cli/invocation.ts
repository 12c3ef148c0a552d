import { parseArgs, type ParseArgsConfig } from 'node:util';
import { UsageError } from './usage.ts';

const TEXT = { type: 'string' } as const;
const FLAG = { type: 'boolean' } as const;

const GLOBAL = { url: TEXT, json: FLAG, help: { ...FLAG, short: 'h' } } as const;

/** The options of each command beside the global ones, and how many arguments it takes. */
const COMMANDS = {
  chat: {
    options: {
      presenter: TEXT,
      extension: { ...TEXT, multiple: true },
      thread: TEXT,
      engine: TEXT,
      model: TEXT,
      approve: FLAG,
    },
    least: 0,
    most: Infinity,
  },
  threads: { options: {}, least: 0, most: 0 },
  runs: { options: {}, least: 1, most: 1 },
  interrupts: { options: { thread: TEXT }, least: 0, most: 0 },
  approve: { options: { args: TEXT, always: FLAG }, least: 1, most: 1 },
  reject: { options: {}, least: 1, most: Infinity },
  answer: { options: { values: TEXT, dismiss: FLAG }, least: 1, most: Infinity },
  cancel: { options: { wait: FLAG }, least: 1, most: 1 },
  follow: { options: { after: TEXT, kinds: TEXT, run: TEXT, 'until-idle': FLAG }, least: 1, most: 1 },
  verify: { options: {}, least: 1, most: 1 },
} as const satisfies Record<string, { options: NonNullable<ParseArgsConfig['options']>; least: number; most: number }>;

export type CommandName = keyof typeof COMMANDS;

type ValuesOf<Options> = {
  readonly [Name in keyof Options]?: Options[Name] extends { readonly multiple: true }
    ? readonly string[]
    : Options[Name] extends { readonly type: 'boolean' }
      ? boolean
      : string;
};

/** A command with its options and its arguments. */
export type InvocationOf<Name extends CommandName> = {
  readonly command: Name;
  readonly values: ValuesOf<(typeof COMMANDS)[Name]['options'] & typeof GLOBAL>;
  readonly args: readonly string[];
};
export type Invocation = { [Name in CommandName]: InvocationOf<Name> }[CommandName];

/**
 * Reads the command line; `help` when that is what was asked for.
 *
 * @throws UsageError for what is no command, no option of it, or not as many arguments as it takes.
 */
export function readInvocation(argv: readonly string[]): Invocation | 'help' {
  const [command = '', ...rest] = argv;
  if (command === 'help' || command === '--help' || command === '-h') return 'help';
  if (!Object.hasOwn(COMMANDS, command)) {
    const what = command === '' ? 'a command is missing' : `there is no command ${JSON.stringify(command)}`;
    throw new UsageError(`${what}; the commands are ${Object.keys(COMMANDS).join(', ')}`);
  }
  const { options, least, most } = COMMANDS[command as CommandName];
  const { values, positionals } = parsed(rest, { ...GLOBAL, ...options });
  if (values['help'] === true) return 'help';
  if (positionals.length < least) throw new UsageError(`${command} needs ${least === 1 ? 'an id' : 'more arguments'}`);
  if (positionals.length > most) {
    throw new UsageError(`${command} takes no more than ${String(most)}, so not ${JSON.stringify(positionals[most])}`);
  }
  return { command, values, args: positionals } as unknown as Invocation;
}

function parsed(args: string[], options: NonNullable<ParseArgsConfig['options']>) {
  try {
    return parseArgs({ args, options, allowPositionals: true, strict: true });
  } catch (error) {
    throw new UsageError(error instanceof Error ? (error.message.split('. ', 1)[0] ?? '') : String(error));
  }
}
