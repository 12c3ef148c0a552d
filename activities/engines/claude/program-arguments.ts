import type { EngineSettingsOf } from '../../../infra/engine-settings.ts';

/** Which conversation a process is for. */
export type WhichSession = { readonly begin: string } | { readonly resume: string };

/** Messages both ways, answers piece by piece, and what needs permission asked of us. */
const PROTOCOL = [
  ...['--output-format', 'stream-json', '--verbose', '--input-format', 'stream-json'],
  ...['--permission-prompt-tool', 'stdio', '--include-partial-messages'],
];

/** What Claude Code is started with, behind its own name. */
export function programArguments(
  settings: Pick<
    EngineSettingsOf<'claude'>,
    'permissionMode' | 'tools' | 'allowedTools' | 'disallowedTools' | 'settingSources'
  >,
  { session, model }: { readonly session: WhichSession; readonly model: string | null },
): string[] {
  const { permissionMode, tools, allowedTools, disallowedTools, settingSources } = settings;
  return [
    ...PROTOCOL,
    ...('resume' in session ? ['--resume', session.resume] : ['--session-id', session.begin]),
    ...['--permission-mode', permissionMode],
    ...(model === null ? [] : ['--model', model]),
    // an option that takes several would take what follows it, too
    ...(tools === undefined ? [] : [`--tools=${tools.join(',')}`]),
    ...allowedTools.map((rule) => `--allowedTools=${rule}`),
    ...disallowedTools.map((rule) => `--disallowedTools=${rule}`),
    ...(settingSources === undefined ? [] : [`--setting-sources=${settingSources.join(',')}`]),
  ];
}
