/** The commands of the terminal itself; every other one is the server's. */
export const LOCAL_COMMANDS = {
  help: 'what can be said here',
  new: 'begin a new conversation',
  cancel: 'stop the run that is at work',
  ask: 'ask again what was left open',
  panels: 'show the panels that the server has',
  status: 'show the status row',
  control: 'NAME: use a control of an extension',
  quit: 'leave; a run that is at work goes on',
} as const;
export type LocalCommand = keyof typeof LOCAL_COMMANDS;

export type SlashCommand =
  | { readonly kind: 'local'; readonly name: LocalCommand; readonly args: string }
  | { readonly kind: 'server'; readonly name: string; readonly args: string };

/** Reads `/name args`; null for a line that is no command. */
export function readSlashCommand(line: string): SlashCommand | null {
  const [, name, args = ''] = /^\/(\S+)\s*([\s\S]*)$/.exec(line) ?? [];
  if (name === undefined) return null;
  const trimmed = args.trimEnd();
  if (name === 'exit') return { kind: 'local', name: 'quit', args: trimmed };
  const isLocal = (wanted: string): wanted is LocalCommand => Object.hasOwn(LOCAL_COMMANDS, wanted);
  return isLocal(name) ? { kind: 'local', name, args: trimmed } : { kind: 'server', name, args: trimmed };
}

/** What a command gave, as text; null for nothing to show. */
export function shownResult(result: unknown): string | null {
  if (result === null || result === undefined || result === '') return null;
  return typeof result === 'string' ? result : JSON.stringify(result, null, 2);
}
