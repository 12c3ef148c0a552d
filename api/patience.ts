import { setTimeout as sleep } from 'node:timers/promises';
import { isConnectionLoss } from '../infra/postgres/transaction.ts';
import type { WriteStream } from './write-stream.ts';

const RETRY_MS = { first: 100, most: 2_000 };

/**
 * Reads for a stream that is open: a database that is away is waited for. A browser's EventSource gives up for good on an error
 * answer, so a stream that is open stays open.
 */
export async function patiently<T>(stream: WriteStream, read: () => Promise<T>): Promise<T> {
  for (let waitMs = RETRY_MS.first; ; waitMs = Math.min(waitMs * 2, RETRY_MS.most)) {
    try {
      return await read();
    } catch (error) {
      if (!isConnectionLoss(error) || !stream.isOpen) throw error;
      await Promise.race([sleep(waitMs), stream.closed]);
    }
  }
}
