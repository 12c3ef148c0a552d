import { pidsOf } from './end-processes.ts';
import { hasProcessTable, readProcesses, residentKib, type ProcessEntry } from './process-table.ts';

/** One engine whose memory is watched. */
export interface MemoryLimit {
  readonly limitKib: number;
  readonly isOne: (entry: ProcessEntry) => boolean;
  readonly onExceeded: (residentKib: number) => void;
}

const LOOK_EVERY_MS = 2_000;

const limits = new Set<MemoryLimit>();
let timer: NodeJS.Timeout | null = null;

/**
 * Watches the resident memory of an engine's processes together; pages that they share count for each. Gives what ends the
 * watch. One look at the process table serves all engines of this process; where there is no table nothing is watched.
 */
export function watchMemory(limit: MemoryLimit): () => void {
  if (!hasProcessTable) return () => {};
  limits.add(limit);
  timer ??= setTimeout(() => void look(), LOOK_EVERY_MS).unref();
  return () => limits.delete(limit);
}

async function look(): Promise<void> {
  const processes = await readProcesses().catch(() => []);
  for (const limit of limits) {
    const sizes = await Promise.all(pidsOf(processes, limit.isOne).map(residentKib));
    const resident = sizes.reduce((sum, size) => sum + size, 0);
    if (resident <= limit.limitKib || !limits.delete(limit)) continue;
    limit.onExceeded(resident);
  }
  timer = limits.size === 0 ? null : setTimeout(() => void look(), LOOK_EVERY_MS).unref();
}
