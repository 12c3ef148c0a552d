import type { EngineSettingsOf } from '../../../infra/engine-settings.ts';

/** What follows `codex exec`. The last one says that the prompt comes by standard input, where no list of processes shows it. */
export function argumentsOf(
  { sandbox, approveForMe }: Pick<EngineSettingsOf<'codex-exec'>, 'sandbox' | 'approveForMe'>,
  { model, threadId }: { readonly model: string | null; readonly threadId: string | null },
): readonly string[] {
  return [
    ...['--json', '--skip-git-repo-check'],
    ...(approveForMe ? ['--approve-for-me'] : ['--sandbox', sandbox]),
    ...(model === null ? [] : ['--model', model]),
    ...(threadId === null ? [] : ['resume', threadId]),
    '-',
  ];
}
