/** Waits no longer than until a signal aborts; then throws its reason. */
export async function abortable<T>(waited: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const stop = (): void => reject(signal.reason as Error);
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([waited, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** Waits for a time, or until a signal aborts; keeps no process alive. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  timer.unref();
  await abortable(promise, signal).catch(() => undefined);
  clearTimeout(timer);
}
