import type { ModeKind, TurnStartParams } from './app-server-types.ts';
import type { OpenedThread } from './codex-schema.ts';

/**
 * What a turn is given so that its thread works in `wanted`: nothing where it does already.
 *
 * **Contract:** a thread keeps its mode, so one that was taken up again may have another than what is configured now; its model and
 * its effort stay as they are.
 */
export function modeChange(thread: OpenedThread, wanted: ModeKind): Pick<TurnStartParams, 'collaborationMode'> {
  const { model, reasoningEffort, collaborationMode } = thread;
  if ((collaborationMode?.mode ?? 'default') === wanted) return {};
  // without instructions of ours it takes its own for the mode
  const settings = { model, reasoning_effort: reasoningEffort ?? null, developer_instructions: null };
  return { collaborationMode: { mode: wanted, settings } };
}
