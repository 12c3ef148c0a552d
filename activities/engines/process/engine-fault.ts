import { TidemarkError } from '../../../contract/errors.ts';
import type { DriverContext } from '../driver.ts';
import type { EngineExit } from './engine-process.ts';

/**
 * That an engine's process is gone, as the run's failure. What it wrote to standard error is for the log only, and that only where
 * it ended by itself.
 */
export function goneFault(
  { name, exit }: { readonly name: string; readonly exit: EngineExit },
  life: { readonly hasBegun: boolean; readonly isClosing: boolean; readonly log: DriverContext['log'] },
): TidemarkError {
  const { code, signal, stderrTail, overMemory } = exit;
  if (!life.isClosing) life.log.warn({ code, signal, stderrTail, overMemory }, 'engine ended by itself');
  return processFault(name, exit, life.hasBegun);
}

function processFault(name: string, exit: EngineExit, hasBegun: boolean): TidemarkError {
  if (exit.spawnError !== undefined) return exit.spawnError;
  const how = exit.signal === null ? `exit code ${String(exit.code)}` : exit.signal;
  if (exit.overMemory) {
    return new TidemarkError(
      'engine_lost',
      `${name} used more memory than it may and was killed`,
      'Raise memoryMb of the engine in tidemark.config.ts, or give it a smaller task.',
    );
  }
  return hasBegun
    ? new TidemarkError(
        'engine_lost',
        `${name} ended by itself in the middle (${how})`,
        "Send the message again; the worker's log has what the engine wrote to standard error.",
      )
    : new TidemarkError(
        'engine_unavailable',
        `${name} ended before it was ready (${how})`,
        "Run its command by hand; the worker's log has what the engine wrote to standard error.",
      );
}

/** For who still waits when a driver is closed. */
export function closedByUs(name: string): TidemarkError {
  return new TidemarkError(
    'engine_lost',
    `${name} was closed`,
    'Nothing is to be done: its turn was over or given up.',
  );
}

/** For an engine whose process lives on and can say nothing more. */
export function closedOutput(): TidemarkError {
  return new TidemarkError(
    'engine_lost',
    'the engine closed its output and said no more',
    'Send the message again; its session is taken up where it can be.',
  );
}
