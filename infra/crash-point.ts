import { crashAt } from './config.ts';

/** The moments between two commits, or a commit and what follows it, at which a process that dies is hardest to recover. */
export type CrashPoint =
  | 'run.create.committed'
  | 'run.cancel.committed'
  | 'interrupt.committed'
  | 'ask.committed'
  | 'turn.prompted'
  | 'turn-step.committed'
  | 'decision.committed'
  | 'input.injected'
  | 'compaction.summarized'
  | 'compaction.committed'
  | 'model-step.committed'
  | 'tool.took-effect'
  | 'tool-step.committed'
  | 'sub-agent.opened'
  | 'sub-agent.ended'
  | 'settle.uncommitted'
  | 'settle.committed'
  | 'translating'
  | 'complete.committed';

/**
 * Where a test may end this process as `kill -9` would (`tests/crash/points-of-*.test.ts`).
 *
 * **Contract:** does nothing unless TIDEMARK_CRASH_AT names this point; then it does not return.
 */
export function crashPoint(name: CrashPoint): void {
  if (crashAt === name) process.kill(process.pid, 'SIGKILL');
}
