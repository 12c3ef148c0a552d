import type { Logger } from './log.ts';

/** A process that is up: what ends it, and how it is stopped. */
export interface RunningProcess {
  readonly log: Logger;
  /** What the parent is told with `{type: 'ready'}`. */
  readonly ready: Readonly<Record<string, unknown>>;
  /** Settles when the process ends by itself; a rejection is a fatal fault. */
  readonly ended: Promise<void>;
  stop(): Promise<void>;
}

/** A stop that takes longer is given up: the process exits with code 1 and says so. */
const STOP_LIMIT_MS = 60_000;

/**
 * The life of a gateway or worker process: start, one line at ready, SIGTERM and SIGINT drain it, an IPC parent that goes away
 * ends it, a start that fails is one clear line and exit code 1.
 */
export async function runProcess(name: string, start: () => Promise<RunningProcess>): Promise<void> {
  const running = await start().catch((error: unknown) => {
    process.stderr.write(`tidemark ${name}: ${describe(error)}\n`);
    process.exit(1);
  });
  const { log } = running;
  let stopping: Promise<void> | null = null;
  const stop = (why: string, code: number): void => {
    stopping ??= (async () => {
      log.info({ why }, `${name} drains`);
      const limit = setTimeout(() => {
        log.error(`${name} did not stop in time`);
        process.exit(1);
      }, STOP_LIMIT_MS);
      limit.unref();
      try {
        await running.stop();
      } catch (error) {
        log.error({ err: error }, `${name} did not stop cleanly`);
        process.exit(1);
      }
      log.info(`${name} stopped`);
      process.exit(code);
    })();
  };
  process.on('SIGTERM', () => stop('SIGTERM', 0));
  process.on('SIGINT', () => stop('SIGINT', 0));
  if (process.send !== undefined) process.on('disconnect', () => stop('parent gone', 0));
  running.ended.then(
    () => stop('ended', 0),
    (error: unknown) => {
      log.fatal({ err: error }, `${name} failed`);
      stop('failed', 1);
    },
  );
  log.info(running.ready, `${name} ready`);
  process.send?.({ type: 'ready', ...running.ready });
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const remedy = (error as { remedy?: string }).remedy;
  return remedy === undefined ? error.message : `${error.message}. ${remedy}`;
}
