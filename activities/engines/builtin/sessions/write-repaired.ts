import { open, rename } from 'node:fs/promises';
import { basename } from 'node:path';
import type { NumberedLine } from '../../../../contract/session-doctor.ts';
import { SESSION_VERSION, writeSessionLine } from '../../../../contract/session-jsonl.ts';
import { repairedSession } from '../../../../contract/session-repair.ts';
import { repairedPath, timeOfPath } from './jsonl-folder.ts';

/**
 * Writes a session without its faults to `<name>.repaired.jsonl` beside its file.
 *
 * **Contract:** the file itself is not touched; the copy is there whole or not at all, and is no session of the list.
 */
export async function writeRepaired(path: string, lines: readonly NumberedLine[]): Promise<string> {
  const id = basename(path, '.jsonl');
  const fallback = { type: 'session', version: SESSION_VERSION, id, timestamp: timeOfPath(path), cwd: '/' } as const;
  const target = repairedPath(path);
  const file = await open(`${target}.new`, 'w', 0o600);
  try {
    for (const line of repairedSession(lines, fallback)) await file.appendFile(writeSessionLine(line));
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${target}.new`, target);
  return target;
}
